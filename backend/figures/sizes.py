"""Formatting of values in their units. Sizes in bytes use KiB, MiB or GiB, with ticks at powers of two."""

import math

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# The suffix of a size, for each unit in the metrics catalog that counts bytes.
SIZE_SUFFIXES = {"bytes": "", "bytes/s": "/s"}
MAX_TICKS = 8
# Ticks are multiples of at least this part of the axis's unit: 1.0625 GiB, but 1056 MiB.
SMALLEST_FRACTION = 16


def size_ticks(low: float, high: float, unit: str = "bytes") -> dict[str, list[float] | list[str]]:
    """Return the ticks of an axis of bytes with their labels."""
    span = high - low
    # An empty or absurdly large range gets Plotly's own ticks.
    if not 0 < span < 2**60:
        return {}
    stride = 2 ** max(0, math.ceil(math.log2(span / MAX_TICKS)))
    scale = _unit_index(stride * SMALLEST_FRACTION)
    suffix = UNITS[scale] + SIZE_SUFFIXES[unit]
    places = [float(n * stride) for n in range(math.ceil(low / stride), math.floor(high / stride) + 1)]
    return {"tickvals": places, "ticktext": [f"{place / 1024**scale:.10g} {suffix}" for place in places]}


def format_value(number: float, unit: str) -> str:
    """Format a metric's value. Only sizes include a unit; the axis title has all others."""
    return format_size(number, unit) if unit in SIZE_SUFFIXES else f"{number:.5g}"


def format_size(count: float, unit: str = "bytes") -> str:
    """Format a number of bytes, such as 681574400 as 650 MiB. Return an empty string for NaN and infinities."""
    if not math.isfinite(count):
        return ""
    scale = _unit_index(abs(count))
    return f"{count / 1024**scale:.4g} {UNITS[scale]}{SIZE_SUFFIXES[unit]}"


def _unit_index(count: float) -> int:
    """Return the index of the largest unit that is not more than this many bytes."""
    return max(0, min(len(UNITS) - 1, int(math.log2(max(1.0, count)) // 10)))

"""Values in their units: bytes with ticks at whole powers of two, in KiB, MiB or GiB."""

import math

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# What stands behind a size in each unit of the metrics' catalogue that counts bytes.
BEHIND = {"bytes": "", "bytes/s": "/s"}
MOST_TICKS = 8
# A tick stands at no smaller part of the axis's unit: 1.0625 GiB, but 1056 MiB.
SMALLEST_PART = 16


def size_ticks(low: float, high: float, unit: str = "bytes") -> dict[str, list[float] | list[str]]:
    """Where the ticks of an axis of bytes stand, and what they say."""
    span = high - low
    # Plotly's own ticks serve where there is nothing between the ends, or more than any memory has.
    if not 0 < span < 2**60:
        return {}
    stride = 2 ** max(0, math.ceil(math.log2(span / MOST_TICKS)))
    scale = _scale(stride * SMALLEST_PART)
    said = UNITS[scale] + BEHIND[unit]
    places = [float(n * stride) for n in range(math.ceil(low / stride), math.floor(high / stride) + 1)]
    return {"tickvals": places, "ticktext": [f"{place / 1024**scale:.10g} {said}" for place in places]}


def value(number: float, unit: str) -> str:
    """A metric's value with as much of its unit as its heading does not say."""
    return size(number, unit) if unit in BEHIND else f"{number:.5g}"


def size(count: float, unit: str = "bytes") -> str:
    """681574400 bytes are 650 MiB; empty where there is no number."""
    if not math.isfinite(count):
        return ""
    scale = _scale(abs(count))
    return f"{count / 1024**scale:.4g} {UNITS[scale]}{BEHIND[unit]}"


def _scale(count: float) -> int:
    """The place of the largest unit that goes into so many bytes."""
    return max(0, min(len(UNITS) - 1, int(math.log2(max(1.0, count)) // 10)))

"""Schema, axes, text, rounding, JSON conversion and cursors that all figures share."""

import hashlib
import html
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from pydantic import BaseModel, Field

from arcadia_backend.comparisons.routes import MAX_RUNS
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics.points import Floats
from arcadia_backend.metrics.reading import Axis


class Figure(BaseModel):
    """A Plotly figure for `Plotly.newPlot` and `plotly.graph_objects.Figure(data=…, layout=…)`.

    With `after`, a response may be an update: `complete` is false and each of `data` is `{uid, keep, x, y, …}`. Keep
    the first `keep` items of each list of that trace and append these.
    """

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    cursor: str = Field(default="", description="Send it as `after` to get only what is new.")
    complete: bool = Field(default=True, description="True if the traces are whole, false if they are updates.")
    missing: list[int] = Field(default=[], description="Requested runs that do not exist. All others are drawn.")


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


SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86_400
STRIDES = [
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 4, 6, 12)),
    *(n * DAY for n in (1, 2, 5, 10, 30)),
]


def duration_ticks(low: float, high: float) -> dict[str, list[int] | list[str]]:
    """Return the ticks of an axis of seconds with their labels."""
    fitting = (stride for stride in STRIDES if (high - low) / stride < MAX_TICKS)
    stride = next(fitting, math.ceil((high - low) / MAX_TICKS / DAY) * DAY)
    places = list(range(math.ceil(low / stride) * stride, math.floor(high) + 1, stride))
    return {"tickvals": places, "ticktext": [format_duration(place) for place in places]}


def format_duration(seconds: int) -> str:
    """Format seconds in at most two units, such as 90 as 1 min 30 s."""
    parts = []
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s")):
        count, seconds = divmod(seconds, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0"


X_TITLES: dict[Axis, str] = {
    "step": "agent steps",
    "frames": "emulator frames",
    "epoch": "epoch (4 M frames)",
    "time": "training time",
}
# The heading of the tooltip that shows the values of all lines.
HOVER_TITLES: dict[Axis, str] = {
    "step": "step %{x:,d}",
    "frames": "frame %{x:,d}",
    "epoch": "epoch %{x:.4~g}",
    "time": "%{x:,.1~f} s of training",
}
SIGNIFICANT_DIGITS = 6
# An outlier is farther from these percentiles than this many times their distance.
CLIP_PERCENTILES, CLIP_REACH = (5, 95), 1.0
# Space above and below the values inside.
CLIP_MARGIN = 0.05
# Ticks of a log axis: over more decades, only powers of ten, and at most about this many.
MIN_LOG_DECADES, MAX_FINE_DECADES, MAX_LOG_TICKS = 0.7, 3, 8
# Larger scores are shown only as text: their sums and differences may overflow.
MAX_DRAWABLE = 1e15


# A legend, or a tooltip with the values of all lines, is readable up to this number.
MAX_NAMED_LINES = 12


def hover_mode(lines: int) -> str:
    """Return whether a tooltip shows all lines, or only the one at the pointer."""
    return "x unified" if lines <= MAX_NAMED_LINES else "closest"


@dataclass(frozen=True)
class Look:
    """The axes that curves are drawn on."""

    axis: Axis = "step"
    x_log: bool = False
    y_log: bool = False
    clip: bool = False


def x_axis(drawn: Sequence[Floats], axis: Axis, log: bool) -> dict[str, Any]:
    """Return the x axis of traces with these x values."""
    heading = {"unifiedhovertitle": {"text": HOVER_TITLES[axis]}}
    if log:
        title = "seconds of training" if axis == "time" else X_TITLES[axis]
        return {"title": {"text": title}, "type": "log", **heading, **log_ticks(np.concatenate([np.zeros(0), *drawn]))}
    layout: dict[str, Any] = {"title": {"text": X_TITLES[axis]}, "type": "linear", **heading}
    places = [x for x in drawn if len(x)]
    if axis == "time" and places:
        layout |= {"ticksuffix": " s", **duration_ticks(min(x[0] for x in places), max(x[-1] for x in places))}
    return layout


def y_axis(drawn: Sequence[Floats], log: bool, unit: str = "", *, clip: bool = False) -> dict[str, Any]:
    """Return the y axis of traces with these heights. With `clip`, its range leaves out outliers."""
    heights = np.concatenate([np.zeros(0), *drawn])
    heights = heights[np.isfinite(heights) & ((heights > 0) | (not log))]
    layout: dict[str, Any] = {"type": "log"} if log else _linear_axis(heights)
    if clip and len(heights):
        layout |= _clipped_range(heights, log)
    if log and unit not in SIZE_SUFFIXES:
        layout |= log_ticks(heights)
    if unit in SIZE_SUFFIXES and len(heights):
        low, high = layout.get("range", (float(heights.min()), float(heights.max())))
        layout |= size_ticks(low, high, unit)
    return layout


def log_ticks(values: Floats) -> dict[str, list[float] | list[str]]:
    """Return the ticks of a log axis with complete labels: 0.0002, 0.0005, 0.001.

    Plotly would label those between powers of ten with single digits. Over less than a decade, its ticks are linear.
    """
    drawn = values[np.isfinite(values) & (values > 0)]
    if not len(drawn):
        return {}
    low, high = math.log10(drawn.min()), math.log10(drawn.max())
    if high - low < MIN_LOG_DECADES:
        return {}
    first, last = math.floor(low), math.ceil(high)
    digits = (1, 2, 5) if high - low <= MAX_FINE_DECADES else (1,)
    stride = 1 if len(digits) > 1 else math.ceil((last - first) / MAX_LOG_TICKS)
    places = [digit * 10.0**power for power in range(first, last + 1, stride) for digit in digits]
    return {"tickvals": places, "ticktext": [_format_tick(place) for place in places]}


def _format_tick(place: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if max(size, 1e4) <= place < 1e12:
            return f"{place / size:.4g} {unit}"
    if 1e-4 <= place < 1e12:
        return f"{place:.4g}"
    digits, exponent = f"{place:.0e}".split("e")
    return f"{digits}e{int(exponent)}"


def _clipped_range(heights: Floats, log: bool) -> dict[str, Any]:
    """Return a range from the lowest to the highest value that is not far outside of the others, or no range."""
    values = np.log10(heights) if log else heights
    lower, upper = np.percentile(values, CLIP_PERCENTILES)
    with np.errstate(over="ignore"):
        reach = CLIP_REACH * (upper - lower)
        inside = values[(values >= lower - reach) & (values <= upper + reach)]
    low, high = float(inside.min()), float(inside.max())
    if len(inside) == len(values) or low == high or not math.isfinite(high - low):
        return {}
    margin = CLIP_MARGIN * (high - low)
    return {"range": [low - margin, high + margin], "autorange": False}


def _linear_axis(heights: Floats) -> dict[str, Any]:
    layout: dict[str, Any] = {"type": "linear"}
    # Plotly draws a constant between one less and one more, where 0.001 looks like 0.
    if len(heights) and heights.min() == heights.max():
        other_end = 2 * float(heights[0]) or 1.0
        if math.isfinite(other_end):
            layout["range"] = sorted([0.0, other_end])
    return layout


def as_text(name: str) -> str:
    """Escape a name so that Plotly shows it literally, without markup, links or formulas."""
    printable = re.sub(r"[\x00-\x1f\x7f]+", " ", name)
    return html.escape(printable).replace("$", "&#36;").replace("%{", "&#37;{")


def error_bars(middles: Floats, lows: Floats, highs: Floats) -> dict[str, Any]:
    """Return the intervals of points as error bars."""
    return {
        "type": "data",
        "symmetric": False,
        "array": significant(highs - middles).tolist(),
        "arrayminus": significant(middles - lows).tolist(),
        "thickness": 1.5,
        "width": 4,
    }


def faint(color: str) -> str:
    """Return the color of the band around a line."""
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"


def format_number(value: float) -> str:
    """Format a number in few digits, with a typographic minus sign."""
    return f"{value:.5g}".replace("-", "−")


def format_interval(low: float, high: float) -> str:
    """Format an interval as " (1 to 2)", or as an empty text if its ends are equal."""
    return f" ({format_number(low)} to {format_number(high)})" if low < high else ""


def significant(values: Floats) -> Floats:
    """Round values to six significant digits, more than a screen can show."""
    finite = np.isfinite(values) & (values != 0)
    exponent = np.zeros(values.shape)
    exponent[finite] = np.floor(np.log10(np.abs(values[finite])))
    places = SIGNIFICANT_DIGITS - 1 - exponent
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = np.round(values / down * up) / up * down
    # Numbers near the largest double overflow on the way; return them unrounded.
    return np.where(np.isfinite(rounded) & finite, rounded, values)


def to_figure(traces: Sequence[go.Scatter], layout: go.Layout | dict[str, Any]) -> Figure:
    """Return a figure of JSON values. Escape the names of the traces and round their heights."""
    for trace in traces:
        if trace.name is not None:
            trace.name = as_text(trace.name)
        trace.y = significant(np.asarray(trace.y, np.float64))
        if trace.customdata is not None:
            trace.customdata = significant(np.asarray(trace.customdata, np.float64))
    written = layout if isinstance(layout, dict) else layout.to_plotly_json()
    return Figure(data=[to_json(trace) for trace in traces], layout=written)


def to_json(trace: go.Scatter) -> dict[str, Any]:
    """Return the trace with lists instead of arrays, and null where JSON has no number."""
    properties: dict[str, Any] = trace.to_plotly_json()
    for name in ("x", "y", "customdata"):
        if name in properties:
            properties[name] = _to_list(properties[name])
    return properties


def _to_list(array: Any) -> list[Any]:
    finite = np.isfinite(array)
    if not finite.all():
        array = array.astype(object)
        array[~finite] = None
    elif (array == np.trunc(array)).all() and (np.abs(array) < 2**53).all():
        array = array.astype(np.int64)
    return list(array.tolist())


# New points change the last bucket. When the store finishes a chunk, the bucket before may change too.
UNSETTLED_POINTS = 2
ARRAYS = ("x", "y", "customdata", "text")
# Of a run: ancestors and forks, two ends of a band, the raw and the smoothed line, and marks at NaN.
MAX_TRACES = 7 * MAX_RUNS
CURSOR = re.compile(rf"([0-9a-f]{{16}})((?:-\d{{1,5}}){{0,{MAX_TRACES}}})")
MAX_CURSOR_LENGTH = 16 + 6 * MAX_TRACES

Trace = dict[str, Any]


def add_cursor(figure: Figure, after: str | None) -> Figure:
    """Return the figure with a cursor. Given the cursor of an earlier response, return only what is new since."""
    kept = [max(0, len(trace["x"]) - UNSETTLED_POINTS) for trace in figure.data]
    figure.cursor = "-".join([_digest(figure.data, kept), *map(str, kept)])
    if after is None:
        return figure
    digest, known = _parse(after)
    if len(known) != len(figure.data) or digest != _digest(figure.data, known):
        return figure
    rest = [_rest(trace, number) for trace, number in zip(figure.data, known, strict=True)]
    return Figure(data=rest, layout=figure.layout, cursor=figure.cursor, complete=False, missing=figure.missing)


def _rest(trace: Trace, known: int) -> Trace:
    arrays = {name: trace[name][known:] for name in ARRAYS if name in trace}
    return {"uid": trace["uid"], "keep": known, **arrays}


def _digest(traces: Sequence[Trace], kept: Sequence[int]) -> str:
    settled = [
        {name: value[:number] if name in ARRAYS else value for name, value in trace.items()}
        for trace, number in zip(traces, kept, strict=True)
    ]
    written = json.dumps(settled, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _parse(cursor: str) -> tuple[str, list[int]]:
    parts = CURSOR.fullmatch(cursor)
    if parts is None:
        raise Invalid(FieldError(field="after", message="not a cursor: send the one from the last response"))
    return parts[1], [int(number) for number in parts[2].split("-")[1:]]

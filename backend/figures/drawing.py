"""Parts that all figures share: axes, rounding, text, and arrays as JSON lists."""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.figures.durations import duration_ticks
from backend.figures.sizes import BEHIND, size_ticks
from backend.metrics.points import Floats
from backend.metrics.schemas import Axis

X_TITLES: dict[Axis, str] = {
    "step": "agent steps",
    "frames": "emulator frames",
    "epoch": "epoch (4 M frames)",
    "time": "time in training",
}
# What is said of the place above the values of all lines.
HOVER_TITLES: dict[Axis, str] = {
    "step": "step %{x:,d}",
    "frames": "frame %{x:,d}",
    "epoch": "epoch %{x:.4~g}",
    "time": "%{x:,.1~f} s in training",
}
DIGITS = 6
# Scores beyond this are told in words: sums and differences of them may be no numbers.
DRAWABLE = 1e15


@dataclass(frozen=True)
class Look:
    """How the curves are to be shown."""

    axis: Axis = "step"
    x_log: bool = False
    y_log: bool = False


def x_axis(drawn: Sequence[Floats], axis: Axis, log: bool) -> dict[str, Any]:
    """The horizontal axis below traces that stand at these places."""
    heading = {"unifiedhovertitle": {"text": HOVER_TITLES[axis]}}
    if log:
        title = "seconds of training" if axis == "time" else X_TITLES[axis]
        return {"title": {"text": title}, "type": "log", **heading}
    told: dict[str, Any] = {"title": {"text": X_TITLES[axis]}, "type": "linear", **heading}
    places = [x for x in drawn if len(x)]
    if axis == "time" and places:
        told |= {"ticksuffix": " s", **duration_ticks(min(x[0] for x in places), max(x[-1] for x in places))}
    return told


def y_axis(drawn: Sequence[Floats], log: bool, unit: str = "") -> dict[str, Any]:
    """The vertical axis beside traces of these heights."""
    heights = np.concatenate([np.zeros(0), *drawn])
    heights = heights[np.isfinite(heights) & ((heights > 0) | (not log))]
    told: dict[str, Any] = {"type": "log"} if log else _linear_axis(heights)
    if unit in BEHIND and len(heights):
        low, high = told.get("range", (float(heights.min()), float(heights.max())))
        told |= size_ticks(low, high, unit)
    return told


def _linear_axis(heights: Floats) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "linear"}
    # Plotly shows a constant between one less and one more, where 0.001 cannot be told from 0.
    if len(heights) and heights.min() == heights.max():
        other_end = 2 * float(heights[0]) or 1.0
        if math.isfinite(other_end):
            told["range"] = sorted([0.0, other_end])
    return told


def as_text(name: str) -> str:
    """A name that Plotly shows letter by letter: no markup, no link, no formula."""
    printable = re.sub(r"[\x00-\x1f\x7f]+", " ", name)
    return html.escape(printable).replace("$", "&#36;").replace("%{", "&#37;{")


def faint(color: str) -> str:
    """The colour of the band around a line."""
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"


def number(value: float) -> str:
    """A number in few digits, with the minus sign of axes."""
    return f"{value:.5g}".replace("-", "−")


def significant(values: Floats) -> Floats:
    """Values to six significant digits, which is more than a screen can show."""
    finite = np.isfinite(values) & (values != 0)
    exponent = np.zeros(len(values))
    exponent[finite] = np.floor(np.log10(np.abs(values[finite])))
    places = DIGITS - 1 - exponent
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = np.round(values / down * up) / up * down
    # Numbers near the ends of what a double holds would overflow on the way.
    return np.where(np.isfinite(rounded) & finite, rounded, values)


def plain(trace: go.Scatter) -> dict[str, Any]:
    """The trace with lists in place of arrays, and a gap where JSON has no number."""
    properties: dict[str, Any] = trace.to_plotly_json()
    for name in ("x", "y", "customdata"):
        if name in properties:
            properties[name] = _listed(properties[name])
    return properties


def _listed(array: Any) -> list[Any]:
    finite = np.isfinite(array)
    if not finite.all():
        array = array.astype(object)
        array[~finite] = None
    elif (array == np.trunc(array)).all() and (np.abs(array) < 2**53).all():
        array = array.astype(np.int64)
    return list(array.tolist())

"""The curves figure: for each run a smoothed line over the faint unsmoothed one, in a band from minimum to maximum."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.figures.durations import duration_ticks
from backend.figures.schemas import Figure
from backend.metrics.buckets import Curve
from backend.metrics.points import Bools, Floats
from backend.metrics.schemas import Axis

X_TITLES: dict[Axis, str] = {
    "step": "agent steps",
    "frames": "emulator frames",
    "epoch": "epoch (4 M frames)",
    "time": "time in training",
}
DIGITS = 6


@dataclass(frozen=True)
class RunCurve:
    """One run's part of the figure."""

    run_id: int
    name: str
    color: str
    curve: Curve


@dataclass(frozen=True)
class Look:
    """How the curves are to be shown."""

    metric: str
    axis: Axis = "step"
    smoothing: float = 0.0
    x_log: bool = False
    y_log: bool = False


def curves_figure(runs: Sequence[RunCurve], look: Look) -> Figure:
    """The figure; colours of background, text and grid are left to who draws it."""
    # Traces and layout are made apart: a go.Figure would add its template's colours and pack numbers as base64.
    layout = go.Layout(
        xaxis=_x_axis(runs, look),
        yaxis={"title": {"text": as_text(look.metric)}, "type": "log" if look.y_log else "linear"},
        hovermode="x unified",
        showlegend=len(runs) > 1,
    )
    data = [_plain(trace) for run in runs if len(run.curve.x) for trace in _traces(run, look)]
    return Figure(data=data, layout=layout.to_plotly_json())


def _x_axis(runs: Sequence[RunCurve], look: Look) -> dict[str, Any]:
    if look.x_log:
        title = "seconds of training" if look.axis == "time" else X_TITLES[look.axis]
        return {"title": {"text": title}, "type": "log"}
    axis: dict[str, Any] = {"title": {"text": X_TITLES[look.axis]}, "type": "linear"}
    drawn = [run.curve.x for run in runs if len(run.curve.x)]
    if look.axis == "time" and drawn:
        axis |= {"ticksuffix": " s", **duration_ticks(min(x[0] for x in drawn), max(x[-1] for x in drawn))}
    return axis


def smoothed(values: Floats, smoothing: float) -> Floats:
    """Exponential moving average that does not lean towards zero at its start; NaN and infinity stay where they are."""
    result = np.array(values, np.float64)
    average, weight = 0.0, 0.0
    for index, value in enumerate(values):
        if np.isfinite(value):
            average = smoothing * average + (1 - smoothing) * value
            weight = smoothing * weight + (1 - smoothing)
            result[index] = average / weight
    return result


def as_text(name: str) -> str:
    """A name that Plotly shows letter by letter: no markup, no link, no formula."""
    printable = re.sub(r"[\x00-\x1f\x7f]+", " ", name)
    return html.escape(printable).replace("$", "&#36;").replace("%{", "&#37;{")


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


def _traces(run: RunCurve, look: Look) -> list[go.Scatter]:
    curve = run.curve
    x = curve.x
    finite = np.isfinite(curve.mean)
    traces = []
    if (curve.max > curve.min).any():
        traces.append(_band(run, x, look.y_log))
    if look.smoothing:
        traces.append(_line(run, x, curve.mean, "raw", opacity=0.3, hoverinfo="skip", showlegend=False))
    told = np.column_stack([significant(curve.mean), curve.min, curve.max, curve.count])
    traces.append(
        _line(
            run,
            x,
            smoothed(curve.mean, look.smoothing),
            "line",
            name=as_text(run.name),
            customdata=told,
            hovertemplate=_hover(curve.raw, bool(look.smoothing)),
        )
    )
    if not finite.all():
        traces.append(_not_finite(run, x, ~finite))
    return traces


def _line(run: RunCurve, x: Floats, y: Floats, part: str, **more: Any) -> go.Scatter:
    # A line of one point would not be seen.
    mode = "lines+markers" if len(x) == 1 else "lines"
    color = {"color": run.color, "width": 1 if part == "raw" else 2}
    return go.Scatter(x=x, y=significant(y), mode=mode, line=color, **_belonging(run, part), **more)


def _band(run: RunCurve, x: Floats, y_log: bool) -> go.Scatter:
    """An outline along the maxima and back along the minima; on a log axis it cannot go down to zero."""
    low, high = run.curve.min, run.curve.max
    drawn = np.isfinite(low) & np.isfinite(high)
    if y_log:
        positive = np.concatenate([low[drawn & (low > 0)], high[drawn & (high > 0)]])
        drawn &= high > 0
        low = np.maximum(low, positive.min(initial=np.inf))
    x, low, high = x[drawn], low[drawn], high[drawn]
    return go.Scatter(
        x=np.concatenate([x, x[::-1]]),
        y=significant(np.concatenate([high, low[::-1]])),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=_faint(run.color),
        hoverinfo="skip",
        showlegend=False,
        **_belonging(run, "band"),
    )


def _not_finite(run: RunCurve, x: Floats, where: Bools) -> go.Scatter:
    """Marks where the metric was not a number or infinite, at the height of the number before."""
    known = np.where(where, 0, np.arange(len(where)))
    before = run.curve.mean[np.maximum.accumulate(known)]
    heights = np.where(np.isfinite(before), before, 0.0)
    return go.Scatter(
        x=x[where],
        y=significant(heights[where]),
        mode="markers",
        marker={"color": run.color, "symbol": "x-thin-open", "size": 8},
        text=[_spelled(value) for value in run.curve.mean[where]],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        **_belonging(run, "not-finite"),
    )


def _belonging(run: RunCurve, part: str) -> dict[str, Any]:
    return {"legendgroup": str(run.run_id), "uid": f"{run.run_id}-{part}", "meta": {"run_id": run.run_id, "part": part}}


def _hover(raw: bool, smooth: bool) -> str:
    said = ["%{y:.6~g} smoothed"] if smooth else []
    if raw:
        said.append("%{customdata[0]:.6~g}")
    else:
        said.append("%{customdata[0]:.6~g}, the mean of %{customdata[3]:,d} points")
        said.append("from %{customdata[1]:.6~g} to %{customdata[2]:.6~g}")
    return ", ".join(said)


def _spelled(value: float) -> str:
    return "not a number" if np.isnan(value) else "infinity" if value > 0 else "−infinity"


def _faint(color: str) -> str:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"


def _plain(trace: go.Scatter) -> dict[str, Any]:
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

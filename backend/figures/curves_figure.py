"""The curves figure: for each run a smoothed line over the faint unsmoothed one, in a band from minimum to maximum."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.colors import Stroke
from backend.figures.drawing import Look, as_text, plain, significant, x_axis, y_axis
from backend.figures.schemas import Figure
from backend.figures.sizes import size
from backend.figures.smoothing import UNSMOOTHED, Smoothing, smoothed
from backend.metrics.buckets import Curve
from backend.metrics.points import Bools, Floats
from workers.contract.metrics import named


@dataclass(frozen=True)
class RunCurve:
    """One run's part of the figure."""

    run_id: int
    name: str
    stroke: Stroke
    curve: Curve
    smoothing: Smoothing = UNSMOOTHED


def curves_figure(runs: Sequence[RunCurve], metric: str, look: Look) -> Figure:
    """The figure, without colours of background, text and grid: the page sets those."""
    told = named(metric)
    # Traces and layout are made apart: a go.Figure would add its template's colours and pack numbers as base64.
    layout = go.Layout(
        xaxis=x_axis([run.curve.x for run in runs], look.axis, look.x_log),
        yaxis={
            "title": {"text": as_text(told.heading)},
            **y_axis([ends for run in runs for ends in (run.curve.min, run.curve.max)], look.y_log, told.unit),
        },
        hovermode="x unified",
        showlegend=len(runs) > 1,
    )
    data = [plain(trace) for run in runs if len(run.curve.x) for trace in _traces(run, look, told.unit)]
    return Figure(data=data, layout=layout.to_plotly_json())


def _traces(run: RunCurve, look: Look, unit: str) -> list[go.Scatter]:
    curve = run.curve
    x = curve.x
    finite = np.isfinite(curve.mean)
    traces = []
    if (curve.max > curve.min).any():
        traces.extend(_band(run, x, look.y_log))
    if run.smoothing.weight:
        traces.append(_line(run, x, curve.mean, "raw", opacity=0.3, hoverinfo="skip", showlegend=False))
    heights = smoothed(curve, run.smoothing)
    hover = _hover_sizes(curve, heights) if unit == "bytes" else _hover(curve)
    traces.append(_line(run, x, heights, "line", name=as_text(run.name), **hover))
    if not finite.all():
        traces.append(_not_finite(run, x, ~finite))
    return traces


def _line(run: RunCurve, x: Floats, y: Floats, part: str, **more: Any) -> go.Scatter:
    # A line of one point would not be seen.
    mode = "lines+markers" if len(x) == 1 else "lines"
    line = {"color": run.stroke.color, "dash": run.stroke.dash, "width": 1 if part == "raw" else 2}
    return go.Scatter(x=x, y=significant(y), mode=mode, line=line, **_belonging(run, part), **more)


def _band(run: RunCurve, x: Floats, y_log: bool) -> list[go.Scatter]:
    """The minima, and the maxima filled down to them; on a log axis the band cannot go down to zero."""
    low, high = run.curve.min, run.curve.max
    drawn = np.isfinite(low) & np.isfinite(high)
    if y_log:
        positive = np.concatenate([low[drawn & (low > 0)], high[drawn & (high > 0)]])
        drawn &= high > 0
        low = np.maximum(low, positive.min(initial=np.inf))
    shared = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    filled = {"fill": "tonexty", "fillcolor": _faint(run.stroke.color)}
    return [
        go.Scatter(x=x[drawn], y=significant(low[drawn]), **shared, **_belonging(run, "low")),
        go.Scatter(x=x[drawn], y=significant(high[drawn]), **shared, **filled, **_belonging(run, "high")),
    ]


def _not_finite(run: RunCurve, x: Floats, where: Bools) -> go.Scatter:
    """Marks where the metric was not a number or infinite, at the height of the number before."""
    known = np.where(where, 0, np.arange(len(where)))
    before = run.curve.mean[np.maximum.accumulate(known)]
    heights = np.where(np.isfinite(before), before, 0.0)
    return go.Scatter(
        x=x[where],
        y=significant(heights[where]),
        mode="markers",
        marker={"color": run.stroke.color, "symbol": "x-thin-open", "size": 8},
        text=[_spelled(value) for value in run.curve.mean[where]],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        **_belonging(run, "not-finite"),
    )


def _belonging(run: RunCurve, part: str) -> dict[str, Any]:
    return {"legendgroup": str(run.run_id), "uid": f"{run.run_id}-{part}", "meta": {"run_id": run.run_id, "part": part}}


def _hover(curve: Curve) -> dict[str, Any]:
    """The value, and half the height of the band around it; the step stands above all lines."""
    if not (curve.max > curve.min).any():
        return {"hovertemplate": "%{y:.5~g}"}
    half = (curve.max - curve.min) / 2
    return {"hovertemplate": "%{y:.5~g} ± %{customdata:.3~g}", "customdata": significant(half)}


def _hover_sizes(curve: Curve, heights: Floats) -> dict[str, Any]:
    """The same of bytes, which Plotly cannot write as MiB."""
    texts = [size(height) for height in heights]
    if (curve.max > curve.min).any():
        halves = (curve.max - curve.min) / 2
        texts = [f"{text} ± {size(half)}" for text, half in zip(texts, halves, strict=True)]
    return {"hovertemplate": "%{text}", "text": texts}


def _spelled(value: float) -> str:
    return "not a number" if np.isnan(value) else "infinity" if value > 0 else "−infinity"


def _faint(color: str) -> str:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"

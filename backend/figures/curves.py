"""The curves figure: for each run a smoothed line over the faint unsmoothed one, in a band from minimum to maximum."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.figures.drawing import Look, as_text, plain, significant, smoothed, x_axis, y_axis
from backend.figures.schemas import Figure
from backend.metrics.buckets import Curve
from backend.metrics.points import Bools, Floats


@dataclass(frozen=True)
class RunCurve:
    """One run's part of the figure."""

    run_id: int
    name: str
    color: str
    curve: Curve


def curves_figure(runs: Sequence[RunCurve], metric: str, look: Look) -> Figure:
    """The figure; colours of background, text and grid are left to who draws it."""
    # Traces and layout are made apart: a go.Figure would add its template's colours and pack numbers as base64.
    layout = go.Layout(
        xaxis=x_axis([run.curve.x for run in runs], look.axis, look.x_log),
        yaxis={
            "title": {"text": as_text(metric)},
            **y_axis([ends for run in runs for ends in (run.curve.min, run.curve.max)], look.y_log),
        },
        hovermode="x unified",
        showlegend=len(runs) > 1,
    )
    data = [plain(trace) for run in runs if len(run.curve.x) for trace in _traces(run, look)]
    return Figure(data=data, layout=layout.to_plotly_json())


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

"""The curves figure: for each run a smoothed line over the faint unsmoothed one, in a band from minimum to maximum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.colors import Stroke
from backend.figures.ancestry import Origin
from backend.figures.drawing import Look, as_text, faint, plain, significant, x_axis, y_axis
from backend.figures.schemas import Figure
from backend.figures.sizes import BEHIND, size, value
from backend.figures.smoothing import UNSMOOTHED, Smoothing, smoothed
from backend.metrics.buckets import NOTHING, Curve
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
    origins: Sequence[Origin] = ()

    @property
    def parts(self) -> list[Curve]:
        """All that is drawn of it, in order."""
        return [*(origin.curve for origin in self.origins if origin.drawn), self.curve]


def curves_figure(runs: Sequence[RunCurve], metric: str, look: Look) -> Figure:
    """The figure, without colours of background, text and grid: the page sets those."""
    parts = [part for run in runs for part in run.parts]
    layout, unit = curves_layout(parts, metric, look, legend=len(runs) > 1), named(metric).unit
    traces = [trace for run in runs for trace in (*origin_traces(run, unit), *run_traces(run, look, unit))]
    return Figure(data=[plain(trace) for trace in traces], layout=layout.to_plotly_json())


def curves_layout(parts: Sequence[Curve], metric: str, look: Look, *, legend: bool) -> go.Layout:
    """The axes around these curves."""
    told = named(metric)
    # Traces and layout are made apart: a go.Figure would add its template's colours and pack numbers as base64.
    return go.Layout(
        xaxis=x_axis([part.x for part in parts], look.axis, look.x_log),
        yaxis={
            "title": {"text": as_text(told.heading)},
            **y_axis([ends for part in parts for ends in (part.min, part.max)], look.y_log, told.unit),
        },
        hovermode="x unified",
        showlegend=legend,
    )


def origin_traces(run: RunCurve, unit: str) -> list[go.Scatter]:
    """What the run went on from, faint and dotted, and a mark wherever one was forked."""
    reached = [origin for origin in run.origins if len(origin.curve.x)]
    heights = [smoothed(origin.curve, replace(run.smoothing, before=NOTHING)) for origin in reached]
    drawn = [(origin, y) for origin, y in zip(reached, heights, strict=True) if origin.drawn]
    shared = {"showlegend": False, "name": as_text(run.name)}
    traces = []
    if drawn:
        traces.append(
            go.Scatter(
                x=np.concatenate([origin.curve.x for origin, _y in drawn]),
                y=significant(np.concatenate([y for _origin, y in drawn])),
                mode="lines",
                opacity=0.6,
                line={"color": run.stroke.color, "dash": "dot", "width": 1.5},
                text=[f"{value(y, unit)} in run {origin.run_id}" for origin, part in drawn for y in part],
                hovertemplate="%{text}",
                **shared,
                **_belonging(run, "origin"),
            )
        )
    if reached:
        traces.append(
            go.Scatter(
                x=np.array([origin.curve.x[-1] for origin in reached]),
                y=significant(np.array([y[-1] for y in heights])),
                mode="markers",
                marker={"color": run.stroke.color, "symbol": "diamond-open", "size": 9},
                text=[f"forked from run {origin.run_id} at step {origin.step:,}" for origin in reached],
                hovertemplate="%{text}",
                **shared,
                **_belonging(run, "fork"),
            )
        )
    return traces


def run_traces(run: RunCurve, look: Look, unit: str) -> list[go.Scatter]:
    """The band of a run, its line, and marks where it had no number."""
    curve = run.curve
    x = curve.x
    if not len(x):
        return []
    finite = np.isfinite(curve.mean)
    traces = []
    if (curve.max > curve.min).any():
        traces.extend(band_traces(run, x, look.y_log))
    if run.smoothing.weight:
        traces.append(line_trace(run, x, curve.mean, "raw", opacity=0.3, hoverinfo="skip", showlegend=False))
    heights = smoothed(curve, run.smoothing)
    hover = _hover_sizes(curve, heights, unit) if unit in BEHIND else _hover(curve)
    traces.append(line_trace(run, x, heights, "line", name=as_text(run.name), **hover))
    if not finite.all():
        traces.append(not_finite_trace(run, x, ~finite))
    return traces


def line_trace(run: RunCurve, x: Floats, y: Floats, part: str, **more: Any) -> go.Scatter:
    """A line of this run, thin where it stands behind another."""
    # A line of one point would not be seen.
    mode = "lines+markers" if len(x) == 1 else "lines"
    line = {"color": run.stroke.color, "dash": run.stroke.dash, "width": 1 if part in ("raw", "seed") else 2}
    return go.Scatter(x=x, y=significant(y), mode=mode, line=line, **_belonging(run, part), **more)


def band_traces(run: RunCurve, x: Floats, y_log: bool) -> list[go.Scatter]:
    """The minima, and the maxima filled down to them; on a log axis the band cannot go down to zero."""
    low, high = run.curve.min, run.curve.max
    drawn = np.isfinite(low) & np.isfinite(high)
    if y_log:
        positive = np.concatenate([low[drawn & (low > 0)], high[drawn & (high > 0)]])
        drawn &= high > 0
        low = np.maximum(low, positive.min(initial=np.inf))
    shared = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    filled = {"fill": "tonexty", "fillcolor": faint(run.stroke.color)}
    return [
        go.Scatter(x=x[drawn], y=significant(low[drawn]), **shared, **_belonging(run, "low")),
        go.Scatter(x=x[drawn], y=significant(high[drawn]), **shared, **filled, **_belonging(run, "high")),
    ]


def not_finite_trace(run: RunCurve, x: Floats, where: Bools) -> go.Scatter:
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


def _hover_sizes(curve: Curve, heights: Floats, unit: str) -> dict[str, Any]:
    """The same of bytes, which Plotly cannot write as MiB."""
    texts = [size(height, unit) for height in heights]
    if (curve.max > curve.min).any():
        halves = (curve.max - curve.min) / 2
        texts = [f"{text} ± {size(half, unit)}" for text, half in zip(texts, halves, strict=True)]
    return {"hovertemplate": "%{text}", "text": texts}


def _spelled(value: float) -> str:
    return "not a number" if np.isnan(value) else "infinity" if value > 0 else "−infinity"

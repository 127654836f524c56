"""Figure of one metric of some runs: a smoothed line over the faint raw one, in a band from minimum to maximum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.colors import Stroke
from backend.figures.ancestry import Origin
from backend.figures.drawing import Look, as_text, faint, to_figure, x_axis, y_axis
from backend.figures.schemas import Figure
from backend.figures.sizes import SIZE_SUFFIXES, format_size, format_value
from backend.figures.smoothing import UNSMOOTHED, Smoothing, smooth
from backend.metrics.buckets import NO_CURVE, Curve
from backend.metrics.points import Bools, Floats
from workers.contract.metrics import named


@dataclass(frozen=True)
class RunCurve:
    """The curve of one run, with its name and style."""

    run_id: int
    name: str
    stroke: Stroke
    curve: Curve
    smoothing: Smoothing = UNSMOOTHED
    origins: Sequence[Origin] = ()

    @property
    def parts(self) -> list[Curve]:
        """Return all drawn curves of the run, in order."""
        return [*(origin.curve for origin in self.origins if origin.drawn), self.curve]


def curves_figure(runs: Sequence[RunCurve], metric: str, look: Look) -> Figure:
    """Return the figure. The page sets the colors of background, text and grid."""
    parts = [part for run in runs for part in run.parts]
    layout, unit = curves_layout(parts, metric, look, legend=len(runs) > 1), named(metric).unit
    traces = [trace for run in runs for trace in (*origin_traces(run, unit), *run_traces(run, look, unit))]
    return to_figure(traces, layout)


def curves_layout(parts: Sequence[Curve], metric: str, look: Look, *, legend: bool) -> go.Layout:
    """Return the layout with axes for these curves."""
    known = named(metric)
    # No go.Figure: it would add its template's colors and pack numbers as base64.
    return go.Layout(
        xaxis=x_axis([part.x for part in parts], look.axis, look.x_log),
        yaxis={
            "title": {"text": as_text(known.heading)},
            **y_axis([ends for part in parts for ends in (part.min, part.max)], look.y_log, known.unit, clip=look.clip),
        },
        hovermode="x unified",
        showlegend=legend,
    )


def origin_traces(run: RunCurve, unit: str) -> list[go.Scatter]:
    """Return the run's ancestors as a faint dotted line, with a mark at each fork."""
    reached = [origin for origin in run.origins if len(origin.curve.x)]
    heights = [smooth(origin.curve, replace(run.smoothing, before=NO_CURVE)) for origin in reached]
    drawn = [(origin, y) for origin, y in zip(reached, heights, strict=True) if origin.drawn]
    shared = {"showlegend": False, "name": run.name}
    traces = []
    if drawn:
        traces.append(
            go.Scatter(
                x=np.concatenate([origin.curve.x for origin, _y in drawn]),
                y=np.concatenate([y for _origin, y in drawn]),
                mode="lines",
                opacity=0.6,
                line={"color": run.stroke.color, "dash": "dot", "width": 1.5},
                text=[f"{format_value(y, unit)} in run {origin.run_id}" for origin, part in drawn for y in part],
                hovertemplate="%{text}",
                **shared,
                **_identity(run, "origin"),
            )
        )
    if reached:
        traces.append(
            go.Scatter(
                x=np.array([origin.curve.x[-1] for origin in reached]),
                y=np.array([y[-1] for y in heights]),
                mode="markers",
                marker={"color": run.stroke.color, "symbol": "diamond-open", "size": 9},
                text=[f"forked from run {origin.run_id} at step {origin.step:,}" for origin in reached],
                hovertemplate="%{text}",
                **shared,
                **_identity(run, "fork"),
            )
        )
    return traces


def run_traces(run: RunCurve, look: Look, unit: str) -> list[go.Scatter]:
    """Return the band of a run, its line, and marks at NaN and infinities."""
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
    heights = smooth(curve, run.smoothing)
    hover = _hover_sizes(curve, heights, unit) if unit in SIZE_SUFFIXES else _hover(curve)
    traces.append(line_trace(run, x, heights, "line", name=run.name, **hover))
    if not finite.all():
        traces.append(not_finite_trace(run, x, ~finite))
    return traces


def line_trace(run: RunCurve, x: Floats, y: Floats, part: str, **more: Any) -> go.Scatter:
    """Return a line of this run. Lines behind another one are thin."""
    # A line of one point would be invisible.
    mode = "lines+markers" if len(x) == 1 else "lines"
    line = {"color": run.stroke.color, "dash": run.stroke.dash, "width": 1 if part in ("raw", "seed") else 2}
    return go.Scatter(x=x, y=y, mode=mode, line=line, **_identity(run, part), **more)


def band_traces(run: RunCurve, x: Floats, y_log: bool) -> list[go.Scatter]:
    """Return the minima, and the maxima filled down to them. On a log axis the band stays above zero."""
    low, high = run.curve.min, run.curve.max
    drawn = np.isfinite(low) & np.isfinite(high)
    if y_log:
        positive = np.concatenate([low[drawn & (low > 0)], high[drawn & (high > 0)]])
        drawn &= high > 0
        low = np.maximum(low, positive.min(initial=np.inf))
    shared = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    filled = {"fill": "tonexty", "fillcolor": faint(run.stroke.color)}
    return [
        go.Scatter(x=x[drawn], y=low[drawn], **shared, **_identity(run, "low")),
        go.Scatter(x=x[drawn], y=high[drawn], **shared, **filled, **_identity(run, "high")),
    ]


def not_finite_trace(run: RunCurve, x: Floats, where: Bools) -> go.Scatter:
    """Return marks where the metric was NaN or infinite, at the height of the value before."""
    known = np.where(where, 0, np.arange(len(where)))
    before = run.curve.mean[np.maximum.accumulate(known)]
    heights = np.where(np.isfinite(before), before, 0.0)
    return go.Scatter(
        x=x[where],
        y=heights[where],
        mode="markers",
        marker={"color": run.stroke.color, "symbol": "x-thin-open", "size": 8},
        text=[_spell(value) for value in run.curve.mean[where]],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        **_identity(run, "not-finite"),
    )


def _identity(run: RunCurve, part: str) -> dict[str, Any]:
    return {"legendgroup": str(run.run_id), "uid": f"{run.run_id}-{part}", "meta": {"run_id": run.run_id, "part": part}}


def _hover(curve: Curve) -> dict[str, Any]:
    """Return the tooltip: the value, and half the height of the band around it."""
    if not (curve.max > curve.min).any():
        return {"hovertemplate": "%{y:.5~g}"}
    half = (curve.max - curve.min) / 2
    return {"hovertemplate": "%{y:.5~g} ± %{customdata:.3~g}", "customdata": half}


def _hover_sizes(curve: Curve, heights: Floats, unit: str) -> dict[str, Any]:
    """Return the same tooltip for sizes, which Plotly cannot format."""
    texts = [format_size(height, unit) for height in heights]
    if (curve.max > curve.min).any():
        halves = (curve.max - curve.min) / 2
        texts = [f"{text} ± {format_size(half, unit)}" for text, half in zip(texts, halves, strict=True)]
    return {"hovertemplate": "%{text}", "text": texts}


def _spell(value: float) -> str:
    return "not a number" if np.isnan(value) else "infinity" if value > 0 else "−infinity"

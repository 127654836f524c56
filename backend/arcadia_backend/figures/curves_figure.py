"""Figure of one metric of some runs: a smoothed line over the faint raw one, in a band from minimum to maximum."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.drawing import (
    HOVER_TITLES,
    MAX_NAMED_LINES,
    SIZE_SUFFIXES,
    Figure,
    Look,
    as_text,
    faint,
    format_size,
    format_value,
    hover_mode,
    to_figure,
    x_axis,
    y_axis,
)
from arcadia_backend.metrics.points import Bools, Floats, MetricSeries, RunView, load_run_views
from arcadia_backend.metrics.queries import Extent, VisibleSeries, Window, read_curve, read_curves, read_extents
from arcadia_backend.metrics.reading import NO_CURVE, Curve, round_width
from arcadia_workers.contract.metrics import named


@dataclass(frozen=True)
class Origin:
    """An ancestor's points before the fork."""

    run_id: int
    step: int
    curve: Curve
    # False if the figure already has the ancestor's whole line.
    drawn: bool


def read_origins(session: Session, runs: Sequence[Run], metric: str, window: Window) -> dict[int, list[Origin]]:
    """Return the ancestors of each run, oldest first. On the time axis return none, since every run starts at 0."""
    lines = {} if window.axis == "time" else find_lineages(session, runs)
    ancestors = {ancestor for line in lines.values() for ancestor, _step in line}
    query = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(ancestors))
    every = {series.run_id: series for series in session.scalars(query)}
    views = load_run_views(session, list(every))
    shown = {run.id for run in runs}

    def origin(ancestor: int, step: int) -> Origin:
        view = RunView(np.minimum(views[ancestor].limits, step), views[ancestor].shifts)
        return Origin(ancestor, step, read_curve(session, every[ancestor], view, window), ancestor not in shown)

    return {run_id: [origin(*part) for part in reversed(line) if part[0] in every] for run_id, line in lines.items()}


def find_lineages(session: Session, runs: Sequence[Run]) -> dict[int, list[tuple[int, int]]]:
    """Return each run's ancestors with their last step before the fork, parent first. A purged run ends the line."""
    parents = _find_parents(session, runs)
    lines: dict[int, list[tuple[int, int]]] = {}
    for run in runs:
        lines[run.id] = line = []
        parent, step = parents[run.id]
        while parent in parents and step is not None:
            line.append((parent, step))
            parent, earlier = parents[parent]
            step = None if earlier is None else min(step, earlier)
    return lines


def _find_parents(session: Session, runs: Sequence[Run]) -> Mapping[int | None, tuple[int | None, int | None]]:
    """Return the parent and fork step of these runs and of all their ancestors."""
    parents: dict[int | None, tuple[int | None, int | None]] = {
        run.id: (run.parent_run_id, run.parent_step) for run in runs
    }
    searched: set[int | None] = {None, *parents}
    while wanted := {parent for parent, _step in parents.values()} - searched:
        searched |= wanted
        rows = session.execute(select(Run.id, Run.parent_run_id, Run.parent_step).where(Run.id.in_(wanted)))
        parents |= {run_id: (parent, step) for run_id, parent, step in rows}
    return parents


# Letters in a line of a tooltip.
TOOLTIP_LETTERS = 32
# Without this, Plotly adds the name of the trace to tooltips.
NO_NAME = "<extra></extra>"
# The weight of the past is multiplied by `weight` over each such part of the figure's longest series.
PARTS = 400
# Points with a smaller weight than this are not read.
NEGLIGIBLE_WEIGHT = 1e-3


@dataclass(frozen=True)
class Smoothing:
    """The decay of the past per unit of x, and the points before the visible part.

    By distance and not by bucket, so a zoom, and runs of other lengths, are equally smooth.
    """

    weight: float = 0.0
    unit: float = 1.0
    before: Curve = NO_CURVE


UNSMOOTHED = Smoothing()


def smooth(curve: Curve, smoothing: Smoothing) -> Floats:
    """Return the moving average of a curve. NaN and infinities stay in place and do not spread.

    Dividing the weighted sum by the sum of the weights avoids a bias toward zero at the start.
    """
    result = np.array(curve.mean, np.float64)
    if not smoothing.weight:
        return result
    total, weight, last = 0.0, 0.0, -math.inf
    for part in (smoothing.before, curve):
        for index, (x, mean, count) in enumerate(zip(part.x.tolist(), part.mean, part.count, strict=True)):
            if not math.isfinite(mean):
                continue
            kept = smoothing.weight ** (max(0.0, x - last) / smoothing.unit)
            total, weight, last = kept * total + count * mean, kept * weight + count, x
            if part is curve:
                result[index] = total / weight
    return result


def read_smoothed_curves(
    session: Session, every: Sequence[MetricSeries], window: Window, weight: float
) -> list[tuple[Curve, Smoothing]]:
    """Return the curve of each series within the window, and how to smooth it.

    All series share a unit, except those whose points are farther apart.
    """
    views = load_run_views(session, [*{series.run_id for series in every}])
    seen = [VisibleSeries(series, views[series.run_id]) for series in every]
    how = [UNSMOOTHED] * len(every)
    if weight:
        extents = read_extents(session, seen, window.axis)
        spans = [max(0.0, each.high - each.low) for each in extents]
        units = [_unit(span, each.count, max(spans) / PARTS) for span, each in zip(spans, extents, strict=True)]
        how = [
            Smoothing(weight, unit, _read_before(session, series, views[series.run_id], window, unit, weight, each))
            for series, unit, each in zip(every, units, extents, strict=True)
        ]
    return list(zip(read_curves(session, seen, window), how, strict=True))


def _unit(span: float, count: int, shared: float) -> float:
    apart = span / (count - 1) if count > 1 else 0.0
    return round_width(max(shared, apart)) or 1.0


def _read_before(
    session: Session, series: MetricSeries, view: RunView, window: Window, unit: float, weight: float, extent: Extent
) -> Curve:
    """Return the points before a zoom that still affect the average at its left edge."""
    if window.low <= extent.low:
        return NO_CURVE
    reach = unit * math.log(NEGLIGIBLE_WEIGHT) / math.log(weight)
    before = Window(window.axis, window.low - reach, math.nextafter(window.low, -math.inf), PARTS)
    return read_curve(session, series, view, before)


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
    layout, unit = curves_layout(parts, metric, look, len(runs), legend=len(runs) > 1), named(metric).unit
    traces = [trace for run in runs for trace in (*origin_traces(run, unit), *run_traces(run, look, unit))]
    return to_figure(name_in_tooltips(traces, layout, look), layout)


def curves_layout(
    parts: Sequence[Curve], metric: str, look: Look, lines: int, *, legend: bool, hovered: int | None = None
) -> go.Layout:
    """Return the layout with axes for these curves, of which `hovered` have tooltips.

    Many lines have no legend. Their tooltip is that of the line at the pointer.
    """
    known = named(metric)
    # No go.Figure: it would add its template's colors and pack numbers as base64.
    return go.Layout(
        xaxis=x_axis([part.x for part in parts], look.axis, look.x_log),
        yaxis={
            "title": {"text": as_text(known.heading)},
            **y_axis([ends for part in parts for ends in (part.min, part.max)], look.y_log, known.unit, clip=look.clip),
        },
        hovermode=hover_mode(max(lines, hovered or 0)),
        showlegend=legend and lines <= MAX_NAMED_LINES,
    )


def name_in_tooltips(traces: Sequence[go.Scatter], layout: go.Layout, look: Look) -> Sequence[go.Scatter]:
    """Add the name and the place on the x axis to tooltips, if these show single lines."""
    if layout.hovermode == "closest":
        for trace in traces:
            if trace.hovertemplate:
                name = [as_text(part) for part in wrap(trace.name or "", TOOLTIP_LETTERS)]
                value = trace.hovertemplate.removesuffix(NO_NAME)
                trace.hovertemplate = "<br>".join([*name, value, HOVER_TITLES[look.axis]]) + NO_NAME
    return traces


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
    """Return the tooltip: the value, and the range of the values that it stands for. One run has no interval."""
    if not (curve.max > curve.min).any():
        return {"hovertemplate": "%{y:.5~g}"}
    ends = np.column_stack([curve.min, curve.max])
    return {"hovertemplate": "%{y:.5~g}, range %{customdata[0]:.5~g} to %{customdata[1]:.5~g}", "customdata": ends}


def _hover_sizes(curve: Curve, heights: Floats, unit: str) -> dict[str, Any]:
    """Return the same tooltip for sizes, which Plotly cannot format."""
    texts = [format_size(height, unit) for height in heights]
    if (curve.max > curve.min).any():
        ends = zip(*([format_size(each, unit) for each in end] for end in (curve.min, curve.max)), strict=True)
        texts = [f"{text}, range {low} to {high}" for text, (low, high) in zip(texts, ends, strict=True)]
    return {"hovertemplate": "%{text}", "text": texts}


def _spell(value: float) -> str:
    return "not a number" if np.isnan(value) else "infinity" if value > 0 else "−infinity"

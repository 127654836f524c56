"""Figures of a metric against another one, of several metrics together, and of one point for each run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import color_of, strokes
from arcadia_backend.comparisons.groups import run_labels
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.curves_figure import UNSMOOTHED, RunCurve, Smoothing, read_smoothed_curves, smooth
from arcadia_backend.figures.drawing import (
    MAX_DRAWABLE,
    SIZE_SUFFIXES,
    Figure,
    Look,
    as_text,
    format_number,
    format_size,
    format_value,
    significant,
    to_figure,
    x_axis,
    y_axis,
)
from arcadia_backend.figures.groups import heights_at, smooth_line
from arcadia_backend.metrics.points import Floats, MetricSeries
from arcadia_backend.metrics.queries import UNFINISHED, UnknownMetric, Window
from arcadia_backend.metrics.reading import NO_CURVE, Curve
from arcadia_backend.runs.expressions.completion import read_number
from arcadia_backend.runs.expressions.nodes import Column, MetricStatistic, Setting, Value
from arcadia_backend.runs.expressions.sql import Translator
from arcadia_backend.runs.names import field_titles
from arcadia_workers.contract.metrics import Metric, named


def draw_metric_by_metric(
    session: Session,
    runs: Sequence[Run],
    metrics: tuple[str, str],
    look: Look,
    window: Window,
    smoothing: float,
) -> Figure:
    """Return the metric of each run against another one. The window is on the axis of steps."""
    x_metric, y_metric = metrics
    pair = list(dict.fromkeys(metrics))
    query = select(MetricSeries).where(MetricSeries.name.in_(pair), MetricSeries.run_id.in_([run.id for run in runs]))
    series = {(each.run_id, each.name): each for each in session.scalars(query)}
    both = [run for run in runs if all((run.id, name) in series for name in pair)]
    if not both and not any(run.state in UNFINISHED for run in runs):
        raise UnknownMetric(f"None of these runs has reported both {x_metric} and {y_metric}.")
    names, styles = run_labels(runs), strokes([run.id for run in runs])
    curves = {}
    for name in pair:
        read = read_smoothed_curves(session, [series[run.id, name] for run in both], window, smoothing)
        for run, (curve, how) in zip(both, read, strict=True):
            curves[run.id, name] = RunCurve(run.id, names[run.id], styles[run.id], curve, how)
    return metric_by_metric_figure(
        [(curves[run.id, x_metric], curves[run.id, y_metric]) for run in both], x_metric, y_metric, look
    )


@dataclass(frozen=True)
class RunPairs:
    """The values of two metrics of a run at the same steps."""

    run: RunCurve
    steps: Floats
    x: Floats
    y: Floats


def metric_by_metric_figure(
    runs: Sequence[tuple[RunCurve, RunCurve]], x_metric: str, y_metric: str, look: Look
) -> Figure:
    """Return a point for each place of the coarser curve of a run, joined in the order of training."""
    drawn = [pair_values(*curves) for curves in runs]
    x_known, y_known = named(x_metric), named(y_metric)
    layout = go.Layout(
        xaxis={
            "title": {"text": as_text(x_known.heading)},
            **y_axis([each.x for each in drawn], look.x_log, x_known.unit),
        },
        yaxis={
            "title": {"text": as_text(y_known.heading)},
            **y_axis([each.y for each in drawn], look.y_log, y_known.unit, clip=look.clip),
        },
        hovermode="closest",
        showlegend=len(runs) > 1,
    )
    return to_figure([_trace(each, x_known, y_known) for each in drawn if len(each.steps)], layout)


def pair_values(x_run: RunCurve, y_run: RunCurve) -> RunPairs:
    """Return the steps where both curves have a value, with both values. The finer curve is interpolated."""
    lines = [smooth_line(x_run), smooth_line(y_run)]
    steps = min((line.x for line in lines), key=len)
    if not len(steps):
        return RunPairs(x_run, steps, steps, steps)
    x, y = heights_at(lines, steps)
    known = np.isfinite(x) & np.isfinite(y)
    return RunPairs(x_run, steps[known], x[known], y[known])


def _trace(each: RunPairs, x_known: Metric, y_known: Metric) -> go.Scatter:
    stroke = each.run.stroke
    return go.Scatter(
        x=significant(each.x),
        y=each.y,
        name=each.run.name,
        mode="lines+markers",
        line={"color": stroke.color, "dash": stroke.dash, "width": 1},
        marker={"color": stroke.color, "size": 5},
        opacity=0.8,
        text=[
            f"step {step:,.0f}: {as_text(y_known.title)} {format_value(y, y_known.unit)}, "
            f"{as_text(x_known.title)} {format_value(x, x_known.unit)}"
            for step, x, y in zip(each.steps.tolist(), each.x.tolist(), each.y.tolist(), strict=True)
        ],
        hovertemplate="%{text}",
        legendgroup=str(each.run.run_id),
        uid=str(each.run.run_id),
        meta={"run_id": each.run.run_id, "part": "line"},
    )


@dataclass(frozen=True)
class RunPoint:
    """The values of a run. One that is missing is NaN."""

    run_id: int
    name: str
    x: float
    y: float


def draw_scatter(session: Session, runs: Sequence[Run], x: str, y: str, look: Look) -> Figure:
    """Return the figure of two expressions. Raise InvalidExpression if one is wrong."""
    values = [read_number(session, text, field) for text, field in ((x, "x"), (y, "y"))]
    translator = Translator(session)
    columns = [translator.number(value) for value in values]
    rows = session.execute(select(Run.id, *columns).where(Run.id.in_([run.id for run in runs])))
    pairs = {run_id: [np.nan if each is None else float(each) for each in pair] for run_id, *pair in rows}
    names = run_labels(runs)
    points = [RunPoint(run.id, names[run.id], *pairs[run.id]) for run in runs if run.id in pairs]
    return scatter_figure(points, _title(values[0], x), _title(values[1], y), look)


def scatter_figure(points: Sequence[RunPoint], x_title: str, y_title: str, look: Look) -> Figure:
    """Return the figure. The title of the x axis counts the runs that are left out."""
    drawn = [
        point for point in points if _is_drawable(point.x, log=look.x_log) and _is_drawable(point.y, log=look.y_log)
    ]
    left_out = len(points) - len(drawn)
    reason = "value" if not (look.x_log or look.y_log) else "value above 0"
    note = f" ({left_out} {'run' if left_out == 1 else 'runs'} without a {reason} left out)" if left_out else ""
    x, y = np.array([point.x for point in drawn]), np.array([point.y for point in drawn])
    layout = go.Layout(
        xaxis={"title": {"text": as_text(x_title) + note}, **y_axis([x], look.x_log)},
        yaxis={"title": {"text": as_text(y_title)}, **y_axis([y], look.y_log, clip=look.clip)},
        hovermode="closest",
        showlegend=False,
    )
    if not drawn:
        return Figure(data=[], layout=layout.to_plotly_json())
    trace = go.Scatter(
        x=significant(x),
        y=y,
        mode="markers",
        marker={"color": [color_of(point.run_id) for point in drawn], "size": 9},
        text=[f"{as_text(point.name)}: {format_number(point.y)} at {format_number(point.x)}" for point in drawn],
        hovertemplate="%{text}<extra></extra>",
        uid="runs",
        meta={"runs": [point.run_id for point in drawn]},
    )
    return to_figure([trace], layout)


def _is_drawable(value: float, *, log: bool) -> bool:
    return bool(np.isfinite(value)) and abs(value) < MAX_DRAWABLE and (value > 0 or not log)


def _title(value: Value, text: str) -> str:
    """Return the title of a single name, or else the expression."""
    if isinstance(value, Column):
        return value.title
    if isinstance(value, Setting):
        return field_titles().get(value.name, value.name)
    if isinstance(value, MetricStatistic):
        return f"{named(value.name).heading} ({value.statistic})"
    return text.strip()


@dataclass(frozen=True)
class MetricCurve:
    """The curve of one metric."""

    metric: str
    curve: Curve
    smoothing: Smoothing = UNSMOOTHED


def draw_together(
    session: Session,
    run: Run,
    metrics: Collection[str],
    look: Look,
    window: Window,
    smoothing: float,
    *,
    shares: bool,
) -> Figure:
    """Return some metrics of one run in one figure."""
    query = select(MetricSeries).where(MetricSeries.name.in_(metrics), MetricSeries.run_id == run.id)
    every = {series.name: series for series in session.scalars(query)}
    if not every and run.state not in UNFINISHED:
        raise UnknownMetric(f"Run {run.id} has reported none of {', '.join(metrics)}.")
    curves = dict(zip(every, read_smoothed_curves(session, [*every.values()], window, smoothing), strict=True))
    return together_figure(
        [MetricCurve(name, *curves.get(name, (NO_CURVE, UNSMOOTHED))) for name in metrics], look, shares=shares
    )


def together_figure(curves: Sequence[MetricCurve], look: Look, *, shares: bool) -> Figure:
    """Return the figure. `shares` stacks each metric as a share of their sum."""
    shown: dict[str, Any] = {"type": "linear", "tickformat": ".0%", "range": [0, 1]}
    if not shares:
        units = {named(each.metric).unit for each in curves}
        unit = units.pop() if len(units) == 1 else ""
        shown = {} if look.y_log else {"rangemode": "tozero"}
        shown |= y_axis([each.curve.mean for each in curves], look.y_log, unit, clip=look.clip)
    layout = go.Layout(
        xaxis=x_axis([each.curve.x for each in curves], look.axis, look.x_log),
        yaxis=shown,
        hovermode="x unified",
        showlegend=True,
        legend={"traceorder": "normal"},
    )
    # A metric keeps its color when another one is reported for the first time.
    colors = [color_of(place) for place in range(len(curves))]
    names = short_titles([each.metric for each in curves])
    traces = [
        _metric_trace(each, name, color, shares)
        for each, name, color in zip(curves, names, colors, strict=True)
        if len(each.curve.x)
    ]
    return to_figure(traces, layout)


def short_titles(metrics: Sequence[str]) -> list[str]:
    """Return each metric's title without the first words that all titles share.

    "Staleness 0" and "Staleness 1 to 3" become "0" and "1 to 3". "Prediction queue" and "Training queue" are unchanged.
    """
    words = [named(metric).title.split() for metric in metrics]
    shared = len(list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))))
    left = [" ".join(each[shared:] or each) for each in words]
    return [name[:1].upper() + name[1:] for name in left]


def _metric_trace(each: MetricCurve, name: str, color: str, shares: bool) -> go.Scatter:
    curve = each.curve
    heights, unit = smooth(curve, each.smoothing), named(each.metric).unit
    hover: dict[str, Any] = {"hovertemplate": "%{y:.0%}" if shares else "%{y:.4~g}"}
    if unit in SIZE_SUFFIXES and not shares:
        hover = {"hovertemplate": "%{text}", "text": [format_size(height, unit) for height in heights]}
    # Interpolate where only other metrics have a point, so that the stack has no gap.
    stacked = {"stackgroup": "whole", "groupnorm": "fraction", "stackgaps": "interpolate"} if shares else {}
    return go.Scatter(
        x=curve.x,
        y=heights,
        name=name,
        mode="lines+markers" if len(curve.x) == 1 else "lines",
        line={"color": color, "width": 1 if shares else 2},
        uid=each.metric,
        meta={"metric": each.metric},
        **hover,
        **stacked,
    )

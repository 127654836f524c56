"""Figure of one metric of some runs against another metric of the same steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import strokes
from backend.comparisons.labels import run_labels
from backend.database.tables import Run
from backend.figures.curves_figure import RunCurve
from backend.figures.drawing import Look, as_text, significant, to_figure, y_axis
from backend.figures.groups import heights_at, smooth_line
from backend.figures.schemas import Figure
from backend.figures.sizes import format_value
from backend.figures.smoothing import read_smoothed_curves
from backend.metrics.curves import Window
from backend.metrics.models import MetricSeries
from backend.metrics.points import Floats
from backend.metrics.queries import UNFINISHED, UnknownMetric
from workers.contract.metrics import Metric, named


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
    found = select(MetricSeries).where(MetricSeries.name.in_(pair), MetricSeries.run_id.in_([run.id for run in runs]))
    series = {(each.run_id, each.name): each for each in session.scalars(found)}
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

"""Figures of runs: what to read for them."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.compare.selection import selected
from backend.figures.curves import RunCurve, curves_figure
from backend.figures.drawing import Look
from backend.figures.schemas import Figure, FigureName
from backend.figures.together import MetricCurve, together_figure
from backend.metrics.buckets import NOTHING
from backend.metrics.curves import Window, read_curve, run_views
from backend.metrics.models import MetricSeries
from backend.metrics.queries import UNFINISHED, UnknownMetric
from backend.models import Run
from backend.runs.view import color_of

FIGURES = [
    FigureName(name="curves", title="A metric of some runs over training"),
    FigureName(name="together", title="Some metrics of a run over training, as lines or as shares of their sum"),
]


def curves(session: Session, written_runs: str, metric: str, look: Look, window: Window) -> Figure:
    """The curves of one metric; `window` is on the figure's axis, in seconds where that is time."""
    runs = selected(session, written_runs)
    ids = [run.id for run in runs]
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(ids))
    every = {series.run_id: series for series in session.scalars(found)}
    if not every and not any(run.state in UNFINISHED for run in runs):
        raise UnknownMetric(f"None of these runs has reported {metric}.")
    views = run_views(session, list(every))
    return curves_figure(
        [
            RunCurve(run.id, run.name, color_of(run.id), read_curve(session, every[run.id], views[run.id], window))
            for run in runs
            if run.id in every
        ],
        metric,
        look,
    )


def together(
    session: Session, run: Run, metrics: Collection[str], look: Look, window: Window, *, shares: bool
) -> Figure:
    """Some metrics of one run in one figure."""
    found = select(MetricSeries).where(MetricSeries.name.in_(metrics), MetricSeries.run_id == run.id)
    every = {series.name: series for series in session.scalars(found)}
    if not every and run.state not in UNFINISHED:
        raise UnknownMetric(f"Run {run.id} has reported none of {', '.join(metrics)}.")
    view = run_views(session, [run.id])[run.id]
    return together_figure(
        [
            MetricCurve(name, read_curve(session, every[name], view, window) if name in every else NOTHING)
            for name in metrics
        ],
        look,
        shares=shares,
    )

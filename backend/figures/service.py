"""Figures of runs: what to read for them."""

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import strokes
from backend.figures.ancestry import origins
from backend.figures.curves_figure import RunCurve, curves_figure
from backend.figures.drawing import Look
from backend.figures.schemas import Figure, FigureName
from backend.figures.smoothing import smoothings
from backend.figures.together_figure import MetricCurve, together_figure
from backend.metrics.buckets import NOTHING
from backend.metrics.curves import Window, read_curve, run_views
from backend.metrics.models import MetricSeries
from backend.metrics.queries import UNFINISHED, UnknownMetric
from backend.models import Run
from backend.runs.labels import labels

FIGURES = [
    FigureName(name="curves", title="A metric of some runs over training"),
    FigureName(name="together", title="Some metrics of a run over training, as lines or as shares of their sum"),
]


def curves(
    session: Session,
    runs: Sequence[Run],
    metric: str,
    look: Look,
    window: Window,
    smoothing: float,
    *,
    ancestry: bool = False,
) -> Figure:
    """The curves of one metric; `window` is on the figure's axis, in seconds where that is time."""
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_([run.id for run in runs]))
    every = {series.run_id: series for series in session.scalars(found)}
    if not every and not any(run.state in UNFINISHED for run in runs):
        raise UnknownMetric(f"None of these runs has reported {metric}.")
    views = run_views(session, list(every))
    reported = [run for run in runs if run.id in every]
    how = smoothings(session, [every[run.id] for run in reported], views, smoothing, window)
    called, drawn = labels(runs), strokes([run.id for run in runs])
    before = origins(session, runs, metric, window) if ancestry else {}
    return curves_figure(
        [
            RunCurve(
                run.id,
                called[run.id],
                drawn[run.id],
                read_curve(session, every[run.id], views[run.id], window),
                each,
                before.get(run.id, ()),
            )
            for run, each in zip(reported, how, strict=True)
        ],
        metric,
        look,
    )


def together(
    session: Session,
    run: Run,
    metrics: Collection[str],
    look: Look,
    window: Window,
    smoothing: float,
    *,
    shares: bool,
) -> Figure:
    """Some metrics of one run in one figure."""
    found = select(MetricSeries).where(MetricSeries.name.in_(metrics), MetricSeries.run_id == run.id)
    every = {series.name: series for series in session.scalars(found)}
    if not every and run.state not in UNFINISHED:
        raise UnknownMetric(f"Run {run.id} has reported none of {', '.join(metrics)}.")
    views = run_views(session, [run.id])
    how = dict(zip(every, smoothings(session, list(every.values()), views, smoothing, window), strict=True))
    return together_figure(
        [
            MetricCurve(name, read_curve(session, every[name], views[run.id], window), how[name])
            if name in every
            else MetricCurve(name, NOTHING)
            for name in metrics
        ],
        look,
        shares=shares,
    )

"""Figures of runs: what to read for them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.compare.selection import selected
from backend.figures.curves import Look, RunCurve, curves_figure
from backend.figures.schemas import Figure, FigureName
from backend.metrics.curves import Window, read_curve, run_views
from backend.metrics.models import MetricSeries
from backend.metrics.queries import UNFINISHED, UnknownMetric
from backend.runs.view import color_of

FIGURES = [FigureName(name="curves", title="A metric of some runs over training")]


def curves(session: Session, written_runs: str, look: Look, window: Window) -> Figure:
    """The curves of one metric; `window` is on the figure's axis, in seconds where that is time."""
    runs = selected(session, written_runs)
    ids = [run.id for run in runs]
    found = select(MetricSeries).where(MetricSeries.name == look.metric, MetricSeries.run_id.in_(ids))
    every = {series.run_id: series for series in session.scalars(found)}
    if not every and not any(run.state in UNFINISHED for run in runs):
        raise UnknownMetric(f"None of these runs has reported {look.metric}.")
    views = run_views(session, list(every))
    return curves_figure(
        [
            RunCurve(run.id, run.name, color_of(run.id), read_curve(session, every[run.id], views[run.id], window))
            for run in runs
            if run.id in every
        ],
        look,
    )

"""What clients ask of a run's metrics."""

import re
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import FieldError, Invalid, NotFound
from backend.metrics.buckets import NOTHING, Curve
from backend.metrics.curves import RunView, Window, read_curve, run_views
from backend.metrics.models import MetricSeries
from backend.metrics.schemas import RunMetrics, SeriesPoints

MAX_NAMES = 50
# Runs that may yet report a metric, so that it is empty and not unknown.
UNFINISHED = ("queued", "starting", "running", "paused")
CURSOR = re.compile(r"(\d{1,9})((?:-\d{1,18}\.\d{1,18})*)")


class UnknownMetric(NotFound):
    """The run has reported no metric of this name."""

    kind = "unknown-metric"
    title = "No such metric"


def metric_names(session: Session, run_id: int) -> list[str]:
    """Names of the run's metrics, in order."""
    names = select(MetricSeries.name).where(MetricSeries.run_id == run_id).order_by(MetricSeries.name)
    return list(session.scalars(names))


def all_metric_names(session: Session) -> list[str]:
    """Names of the metrics of all runs, in order."""
    return list(session.scalars(select(MetricSeries.name).distinct().order_by(MetricSeries.name)))


def run_metrics(session: Session, run: Run, names: Sequence[str], window: Window, after: str | None) -> RunMetrics:
    """The named series, or all; with a cursor only what was stored since, unless that changed what came before."""
    found = select(MetricSeries).where(MetricSeries.run_id == run.id).order_by(MetricSeries.name)
    every = {series.name: series for series in session.scalars(found)}
    missing = [name for name in names if name not in every]
    if missing and run.state not in UNFINISHED:
        raise UnknownMetric(f"Run {run.id} has not reported {', '.join(missing)[:500]}; it has: {', '.join(every)}.")
    wanted = [every[name] for name in (names or list(every)[:MAX_NAMES]) if name in every]
    seen = run_views(session, [run.id])[run.id]
    skips = _skips(after, seen)
    curves = {series.name: read_curve(session, series, seen, window, skips.get(series.id, 0)) for series in wanted}
    return RunMetrics(
        run_id=run.id,
        x=window.axis,
        cursor=_cursor(wanted, seen),
        complete=not skips and all(curve.raw for curve in curves.values()),
        continues=bool(skips),
        series={name: _shown(curves.get(name, NOTHING)) for name in names or curves},
    )


def _attempt(seen: RunView) -> int:
    return len(seen.limits) - 1


def _cursor(every: Sequence[MetricSeries], seen: RunView) -> str:
    """The attempt that last superseded points, and how many points each series has."""
    return f"{_attempt(seen)}" + "".join(f"-{series.id}.{series.stored}" for series in every)


def _skips(cursor: str | None, seen: RunView) -> dict[int, int]:
    """How many points of each series its reader has; none if some of them have been superseded since."""
    if cursor is None:
        return {}
    parts = CURSOR.fullmatch(cursor)
    if parts is None:
        raise Invalid(FieldError(field="after", message="is no cursor; pass on the one that came with the last answer"))
    if int(parts[1]) != _attempt(seen):
        return {}
    pairs = (pair.split(".") for pair in parts[2].split("-")[1:])
    return {int(series): int(stored) for series, stored in pairs}


def _shown(curve: Curve) -> SeriesPoints:
    return SeriesPoints(
        resolution="raw" if curve.raw else "buckets",
        total=curve.total,
        x=curve.x.tolist(),
        mean=curve.mean.tolist(),
        min=curve.min.tolist(),
        max=curve.max.tolist(),
        last=curve.last.tolist(),
        count=curve.count.tolist(),
    )

"""Metrics of runs as clients read them: names, and points with a cursor."""

import re
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import FieldError, Invalid, NotFound
from backend.metrics.buckets import NO_CURVE, Curve
from backend.metrics.curves import Window, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.schemas import RunMetrics, SeriesPoints
from backend.metrics.visibility import load_run_views

MAX_NAMES = 50
# Runs in these states may still report a metric, so a missing one is empty rather than unknown.
UNFINISHED = ("queued", "starting", "running", "paused")
# The run's latest started attempt, then the number of stored points of each series.
CURSOR = re.compile(r"(\d{1,9})((?:-\d{1,18}\.\d{1,18})*)")


class UnknownMetric(NotFound):
    """A metric that the run has not reported."""

    kind = "unknown-metric"
    title = "No such metric"


def metric_names(session: Session, run_id: int) -> list[str]:
    """Return the names of the run's metrics in order."""
    names = select(MetricSeries.name).where(MetricSeries.run_id == run_id).order_by(MetricSeries.name)
    return list(session.scalars(names))


def all_metric_names(session: Session) -> list[str]:
    """Return the names of the metrics of all runs in order."""
    return list(session.scalars(select(MetricSeries.name).distinct().order_by(MetricSeries.name)))


def run_metrics(session: Session, run: Run, names: Sequence[str], window: Window, after: str | None) -> RunMetrics:
    """Return the named series, or all of them.

    With a cursor, return only points stored since, unless a resumed attempt has superseded earlier points.
    """
    attempt_read, points_read = _parse_cursor(after)
    found = select(MetricSeries).where(MetricSeries.run_id == run.id).order_by(MetricSeries.name)
    every = {series.name: series for series in session.scalars(found)}
    missing = [name for name in names if name not in every]
    if missing and run.state not in UNFINISHED:
        has = f"; it has: {', '.join(every)}" if every else " or any other metric"
        raise UnknownMetric(f"Run {run.id} has not reported {', '.join(missing)[:500]}{has}.")
    wanted = [every[name] for name in (names or list(every)[:MAX_NAMES]) if name in every]
    view = load_run_views(session, [run.id])[run.id]
    attempt = len(view.limits) - 1
    skips = points_read if attempt_read == attempt else {}
    curves = {series.name: read_curve(session, series, view, window, skips.get(series.id, 0)) for series in wanted}
    return RunMetrics(
        run_id=run.id,
        x=window.axis,
        cursor=f"{attempt}" + "".join(f"-{series.id}.{series.stored}" for series in wanted),
        complete=not skips and all(curve.raw for curve in curves.values()),
        continues=bool(skips),
        series={name: _to_schema(curves.get(name, NO_CURVE)) for name in names or curves},
    )


def _parse_cursor(cursor: str | None) -> tuple[int | None, dict[int, int]]:
    """Return the attempt of a cursor, and by series the number of points that the client has."""
    if cursor is None:
        return None, {}
    parts = CURSOR.fullmatch(cursor)
    if parts is None:
        raise Invalid(FieldError(field="after", message="not a cursor: send the one from the last response"))
    pairs = (pair.split(".") for pair in parts[2].split("-")[1:])
    return int(parts[1]), {int(series): int(stored) for series, stored in pairs}


def _to_schema(curve: Curve) -> SeriesPoints:
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

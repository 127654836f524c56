"""Measurements of the runs of started studies, by study point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.metrics.curves import Window, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.points import Floats, Ints
from backend.metrics.reading import visible_summaries
from backend.metrics.schemas import Axis
from backend.metrics.visibility import load_limits, load_run_views
from backend.papers.definition import StartedStudy
from backend.studies.points import point_values, read_specification
from backend.studies.results import Point, load_points
from workers.contract.inference.samples import sorted_means
from workers.contract.metrics import EPISODE_RETURN

# Places along a curve. Each is the mean of the episodes around it.
PLACES = 100


@dataclass(frozen=True)
class MeasuredPoint:
    """A study point with the values of its axes and its existing runs."""

    values: Mapping[str, Any]
    point: Point

    @property
    def run_ids(self) -> list[int]:
        """Return the runs of the point that exist."""
        return [run.run_id for run in self.point.runs if run.run_id is not None and run.state is not None]

    @property
    def finished_ids(self) -> list[int]:
        """Return the finished runs of the point."""
        return [run.run_id for run in self.point.runs if run.run_id is not None and run.state == "finished"]


def measured_points(session: Session, started: StartedStudy) -> list[MeasuredPoint]:
    """Return all points of a study."""
    specification = read_specification(started.study)
    return [
        MeasuredPoint(point_values(specification, point.draw), point) for point in load_points(session, started.study)
    ]


def means(session: Session, run_ids: Sequence[int], metric: str) -> dict[int, float]:
    """Return the mean of a metric in each run that has reported it."""
    limits = load_limits(session, run_ids)
    found: dict[int, float] = {}
    for series in _read_series(session, run_ids, metric):
        summaries = visible_summaries(session, series, limits[series.run_id])
        if summaries["count"].sum():
            found[series.run_id] = float(summaries["sum"].sum() / summaries["count"].sum())
    return found


def mean(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """Return the mean over runs of each run's mean."""
    found = means(session, run_ids, metric)
    return sum(found.values()) / len(found) if found else None


@dataclass(frozen=True)
class MeanCurve:
    """The mean of several curves, and the number of curves at each place."""

    x: Floats
    mean: Floats
    count: Ints


def curve(session: Session, run_ids: Sequence[int], axis: Axis, metric: str = EPISODE_RETURN) -> MeanCurve | None:
    """Return the mean over runs of a metric along an axis, or None if no run has reported it."""
    views, window = load_run_views(session, run_ids), Window(axis, buckets=PLACES)
    curves = [
        read_curve(session, series, views[series.run_id], window) for series in _read_series(session, run_ids, metric)
    ]
    return mean_of([(each.x, each.mean) for each in curves if len(each.x)])


def mean_of(curves: Sequence[tuple[Floats, Floats]]) -> MeanCurve | None:
    """Return the mean at every place of any curve. A curve counts only between its ends."""
    known = [(x, y) for x, y in (sorted_means(*each) for each in curves) if len(x)]
    if not known:
        return None
    x = np.unique(np.concatenate([places for places, _ in known]))
    heights = np.array([np.interp(x, *each, left=np.nan, right=np.nan) for each in known])
    count = np.isfinite(heights).sum(axis=0)
    shown = count > 0
    return MeanCurve(x[shown], np.nansum(heights[:, shown], axis=0) / count[shown], count[shown])


def _read_series(session: Session, run_ids: Sequence[int], metric: str) -> Sequence[MetricSeries]:
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(run_ids))
    return session.scalars(found.order_by(MetricSeries.run_id)).all()

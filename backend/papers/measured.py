"""What the runs of started studies have measured, by the points of each study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.statistics import sorted_means
from backend.metrics.curves import Window, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.points import Floats, Ints
from backend.metrics.reading import visible_summaries
from backend.metrics.schemas import Axis
from backend.metrics.visibility import load_limits, load_run_views
from backend.papers.definition import Started
from backend.studies.points import point_values, read_specification
from backend.studies.results import Point, load_points
from workers.contract.metrics import EPISODE_RETURN

# Places along a curve: each is the mean of the episodes around it.
PLACES = 100


@dataclass(frozen=True)
class MeasuredPoint:
    """A point of a study with the fields that its axes move, and its runs that exist."""

    values: Mapping[str, Any]
    point: Point

    @property
    def run_ids(self) -> list[int]:
        """Its runs that were made and not purged."""
        return [run.run_id for run in self.point.runs if run.run_id is not None and run.state is not None]

    @property
    def finished_ids(self) -> list[int]:
        """Those of its runs that were trained to their end."""
        return [run.run_id for run in self.point.runs if run.run_id is not None and run.state == "finished"]


def measured_points(session: Session, started: Started) -> list[MeasuredPoint]:
    """Every point of a study."""
    asked = read_specification(started.study)
    return [MeasuredPoint(point_values(asked, point.draw), point) for point in load_points(session, started.study)]


def means(session: Session, run_ids: Sequence[int], metric: str) -> dict[int, float]:
    """The mean of all that each run has reported of a metric; runs that have reported none are left out."""
    limits = load_limits(session, run_ids)
    found: dict[int, float] = {}
    for series in _series(session, run_ids, metric):
        summaries = visible_summaries(session, series, limits[series.run_id])
        if summaries["count"].sum():
            found[series.run_id] = float(summaries["sum"].sum() / summaries["count"].sum())
    return found


def mean(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """The mean over runs of their means."""
    found = means(session, run_ids, metric)
    return sum(found.values()) / len(found) if found else None


@dataclass(frozen=True)
class Mean:
    """The mean of several curves, and of how many at each place."""

    x: Floats
    mean: Floats
    count: Ints


def curve(session: Session, run_ids: Sequence[int], axis: Axis, metric: str = EPISODE_RETURN) -> Mean | None:
    """The mean over runs of a metric along an axis, where any has reported it."""
    views, window = load_run_views(session, run_ids), Window(axis, buckets=PLACES)
    curves = [read_curve(session, series, views[series.run_id], window) for series in _series(session, run_ids, metric)]
    return mean_of([(each.x, each.mean) for each in curves if len(each.x)])


def mean_of(curves: Sequence[tuple[Floats, Floats]]) -> Mean | None:
    """Their mean at every place of any; a curve counts between its ends alone."""
    known = [(x, y) for x, y in (sorted_means(*each) for each in curves) if len(x)]
    if not known:
        return None
    x = np.unique(np.concatenate([places for places, _ in known]))
    heights = np.array([np.interp(x, *each, left=np.nan, right=np.nan) for each in known])
    count = np.isfinite(heights).sum(axis=0)
    shown = count > 0
    return Mean(x[shown], np.nansum(heights[:, shown], axis=0) / count[shown], count[shown])


def _series(session: Session, run_ids: Sequence[int], metric: str) -> Sequence[MetricSeries]:
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(run_ids))
    return session.scalars(found.order_by(MetricSeries.run_id)).all()

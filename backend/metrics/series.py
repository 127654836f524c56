"""The series of a run: find them by name, and add new ones within the limit."""

import re
from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.errors import Problem
from backend.metrics.models import MetricSeries
from backend.metrics.schemas import NAME_PATTERN
from workers.contract.metrics import EPISODE_RETURN, MEAN_RETURN

# Lists of metrics, and tables of their last values, stay usable up to about this number.
MAX_SERIES = 10_000


class UnstorableMetric(Problem):
    """A metric with an invalid name, or one more than a run may have."""

    status = 422
    kind = "unstorable-metric"
    title = "Metric cannot be stored"


def find_shared_series(session: Session, run_ids: Collection[int], name: str) -> dict[int, MetricSeries]:
    """Return a series of each run that has it. A run without episodes has mean returns instead of returns."""
    names = (name, MEAN_RETURN) if name == EPISODE_RETURN else (name,)
    found = session.scalars(
        select(MetricSeries).where(MetricSeries.run_id.in_(run_ids), MetricSeries.name.in_(names))
    ).all()
    means = {series.run_id: series for series in found if series.name != name}
    return means | {series.run_id: series for series in found if series.name == name}


def find_series(session: Session, run_id: int, names: Collection[str]) -> dict[str, MetricSeries]:
    """Return the run's series of these names, without the missing ones."""
    wanted = select(MetricSeries).where(MetricSeries.run_id == run_id, MetricSeries.name.in_(names))
    return {series.name: series for series in session.scalars(wanted)}


def remaining_series(session: Session, run_id: int) -> int:
    """Return how many more series the run may have."""
    count = session.scalar(select(func.count()).select_from(MetricSeries).where(MetricSeries.run_id == run_id)) or 0
    return max(0, MAX_SERIES - count)


def add_series(session: Session, run_id: int, names: Sequence[str]) -> dict[str, MetricSeries]:
    """Add empty series to a run."""
    added = {
        name: MetricSeries(run_id=run_id, name=name, count=0, recent=b"", stored=0, chunks=0, tail=0) for name in names
    }
    session.add_all(added.values())
    session.flush()
    return added


def find_or_add_series(session: Session, run_id: int, names: Collection[str]) -> dict[str, MetricSeries]:
    """Return the run's series of these names. Raise UnstorableMetric if a missing one cannot be added."""
    for name in names:
        if not re.fullmatch(NAME_PATTERN, name):
            raise UnstorableMetric(f"{name[:200]!r} cannot name a metric: use 1 to 200 printable characters.")
    found = find_series(session, run_id, names)
    new = [name for name in names if name not in found]
    if new and len(new) > (room := remaining_series(session, run_id)):
        raise UnstorableMetric(f"A run may have {MAX_SERIES:,} metrics; this one would have {len(new) - room:,} more.")
    return found | add_series(session, run_id, new)

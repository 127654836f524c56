"""Series as they are stored, for archive files: points of all attempts, in the order in which they were reported."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.metrics.models import MetricChunk, MetricSeries
from backend.metrics.points import CHUNK, PAGE, POINT, Array
from backend.metrics.reading import at_attempt
from backend.metrics.series import add_series
from backend.metrics.service import append_points, update_statistics
from backend.metrics.visibility import load_limits

# An attempt, and how many consecutive points are its own.
Segment = tuple[int, int]
# One page of chunks: 512 kB.
POINTS_PER_BLOCK = CHUNK * PAGE


def list_series(session: Session, run_id: int) -> Sequence[MetricSeries]:
    """Return the series of a run in order of their names."""
    found = session.scalars(select(MetricSeries).where(MetricSeries.run_id == run_id))
    # Sort here, because databases sort letters differently.
    return sorted(found, key=lambda series: series.name)


def list_segments(session: Session, series: MetricSeries) -> list[Segment]:
    """Return the attempts of a series' points."""
    chunk = MetricChunk
    query = select(chunk.attempt, func.length(chunk.data)).where(chunk.series_id == series.id).order_by(chunk.number)
    rows = [(attempt, size // POINT.itemsize) for attempt, size in session.execute(query)]
    grouped = groupby(rows, key=lambda row: row[0])
    return [(attempt, sum(count for _attempt, count in some)) for attempt, some in grouped]


def iterate_points(session: Session, series: MetricSeries) -> Iterator[bytes]:
    """Yield the packed points of a series, chunk by chunk."""
    query = select(MetricChunk.data).where(MetricChunk.series_id == series.id).order_by(MetricChunk.number)
    yield from session.scalars(query.execution_options(yield_per=PAGE))


class SeriesRestorer:
    """Stores the points of the series of a new run, and computes their statistics."""

    def __init__(self, session: Session, run: Run, names: Sequence[str]) -> None:
        self._session = session
        self._series = add_series(session, run.id, names)
        self._limits = load_limits(session, [run.id])[run.id]
        # Points that are not written yet.
        self._pending = 0

    def restore(self, name: str, segments: Sequence[Segment], read: Callable[[int], bytes]) -> None:
        """Store the points of a series. `read` returns that many of the next bytes."""
        series = self._series[name]
        for attempt, count in segments:
            for start in range(0, count, POINTS_PER_BLOCK):
                size = min(POINTS_PER_BLOCK, count - start)
                points: Array = np.frombuffer(read(size * POINT.itemsize), POINT)
                append_points(self._session, attempt, {name: series}, {name: points})
                visible = points["value"][points["step"] <= at_attempt(self._limits, attempt)]
                if len(visible):
                    update_statistics(series, visible)
                self._flush(size)

    def _flush(self, size: int) -> None:
        """Write the chunks of many points, which are then dropped from memory."""
        self._pending += size
        if self._pending >= POINTS_PER_BLOCK:
            self._session.flush()
            self._pending = 0

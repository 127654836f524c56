"""Reading a series from the database: summaries of finished chunks, the points in chunks, and which are superseded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Attempt
from backend.metrics.models import MetricChunk, MetricPage, MetricSeries
from backend.metrics.points import (
    NO_POINTS,
    NO_SUMMARIES,
    POINT,
    SUMMARY,
    Array,
    Bools,
    Floats,
    Ints,
    summarise,
    unpack,
)

EVERYTHING = np.iinfo(np.int64).max
# Chunks fetched at once: 2 MB of points.
AT_ONCE = 256


@dataclass(frozen=True)
class Points:
    """Points in order, with the attempt and the chunk that each is of."""

    records: Array
    attempts: Ints
    chunks: Ints

    def where(self, wanted: Bools) -> "Points":
        """Those that are wanted."""
        return self if wanted.all() else Points(self.records[wanted], self.attempts[wanted], self.chunks[wanted])

    def ordinals(self, chunk_sizes: Ints) -> Ints:
        """How many points of the series were stored before each of these."""
        before = np.append(0, np.cumsum(chunk_sizes))
        return np.asarray(before[self.chunks] + np.arange(len(self.chunks)) - np.searchsorted(self.chunks, self.chunks))


def visible_limits(session: Session, run_ids: Sequence[int]) -> dict[int, Ints]:
    """By run and attempt, the last step that no later attempt supersedes."""
    return {run_id: limits_after(found) for run_id, found in resumptions(session, run_ids).items()}


def resumptions(session: Session, run_ids: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """By run, the attempts that have started and the step that each went on from."""
    begun = select(Attempt.run_id, Attempt.attempt, Attempt.resumed_step).where(
        Attempt.run_id.in_(run_ids), Attempt.resumed_step.is_not(None)
    )
    found: dict[int, list[tuple[int, int]]] = {run_id: [] for run_id in run_ids}
    for run_id, attempt, step in session.execute(begun):
        found[run_id].append((attempt, step or 0))
    return found


def limits_after(resumed: Sequence[tuple[int, int]]) -> Ints:
    """By attempt, the last visible step, given the attempts that started and the step that each went on from."""
    limits = np.full(max((attempt for attempt, _step in resumed), default=0) + 1, EVERYTHING, np.int64)
    for attempt, step in resumed:
        limits[:attempt] = np.minimum(limits[:attempt], step)
    return limits


def limit_of(attempts: Ints | int, limits: Ints) -> Ints:
    """The last visible step of each of these attempts."""
    return np.asarray(limits[np.minimum(attempts, len(limits) - 1)])


def finished(session: Session, series: MetricSeries) -> Array:
    """Summaries of the finished chunks, as many as there were when the series' row was read."""
    pages = session.scalars(
        select(MetricPage.data).where(MetricPage.series_id == series.id).order_by(MetricPage.number)
    ).all()
    return unpack(b"".join(pages), SUMMARY)[: series.chunks - bool(series.tail)] if pages else NO_SUMMARIES


def points_of(session: Session, series: MetricSeries, chunks: Array, numbers: Ints) -> Points:
    """The points of these finished chunks and all of the unfinished one."""
    blobs: list[bytes] = []
    for start in range(0, len(numbers), AT_ONCE):
        some = [int(number) for number in numbers[start : start + AT_ONCE]]
        found = select(MetricChunk.data).where(MetricChunk.series_id == series.id, MetricChunk.number.in_(some))
        blobs += session.scalars(found.order_by(MetricChunk.number))
    records = unpack(b"".join(blobs), POINT)
    chunk_of = np.repeat(numbers, chunks["count"][numbers])
    attempts = chunks["attempt"][chunk_of]
    tail, attempt = _tail(session, series)
    if not len(tail):
        return Points(records, attempts, chunk_of)
    return Points(
        np.concatenate([records, tail]),
        np.append(attempts, np.full(len(tail), attempt)),
        np.append(chunk_of, np.full(len(tail), len(chunks))),
    )


def _tail(session: Session, series: MetricSeries) -> tuple[Array, int]:
    """The points of the unfinished chunk, as many as there were when the series' row was read, and their attempt."""
    chunk = session.get(MetricChunk, (series.id, series.chunks - 1)) if series.tail else None
    return (NO_POINTS, 0) if chunk is None else (unpack(chunk.data, POINT)[: series.tail], chunk.attempt)


def visible_summaries(session: Session, series: MetricSeries, limits: Ints) -> Array:
    """Summaries, in no order, that together are exactly the points not superseded."""
    chunks = finished(session, series)
    allowed = limit_of(chunks["attempt"], limits)
    whole = chunks["last_step"] <= allowed
    torn = np.flatnonzero((chunks["first_step"] <= allowed) & ~whole)
    points = points_of(session, series, chunks, torn)
    points = points.where(points.records["step"] <= limit_of(points.attempts, limits))
    alone = np.arange(len(points.chunks))
    return np.concatenate([chunks[whole], summarise(points.records, alone, points.attempts)])


def stored_chunks(
    session: Session, series: MetricSeries, limits: Ints, numbers: range
) -> list[tuple[int, Array, Bools]]:
    """Every point of these chunks, in their order: attempt, points, and which of the points are superseded."""
    found = select(MetricChunk.number, MetricChunk.attempt, MetricChunk.data).where(
        MetricChunk.series_id == series.id, MetricChunk.number.between(min(numbers), max(numbers))
    )
    ordered = session.execute(found.order_by(MetricChunk.number))
    chunks = []
    for number, attempt, data in ordered:
        points = unpack(data, POINT)
        if series.tail and number == series.chunks - 1:
            points = points[: series.tail]
        chunks.append((attempt, points, points["step"] > limit_of(attempt, limits)))
    return chunks


def portions(series: MetricSeries) -> list[range]:
    """The numbers of the series' chunks, as many at a time as may be in memory."""
    return [range(start, min(start + AT_ONCE, series.chunks)) for start in range(0, series.chunks, AT_ONCE)]


def visible_values(session: Session, series: MetricSeries, limits: Ints) -> Iterator[Floats]:
    """The values not superseded, a portion at a time."""
    for numbers in portions(series):
        chunks = stored_chunks(session, series, limits, numbers)
        yield np.concatenate([points["value"][~superseded] for _attempt, points, superseded in chunks])


def last_values(session: Session, series: MetricSeries, limits: Ints, number: int) -> Floats:
    """The last values not superseded."""
    chunks = finished(session, series)
    candidates = np.flatnonzero(chunks["first_step"] <= limit_of(chunks["attempt"], limits)).tolist()
    if series.tail:
        candidates.append(len(chunks))
    found: list[Floats] = []
    for last in reversed(candidates):
        for _attempt, points, superseded in stored_chunks(session, series, limits, range(last, last + 1)):
            found.insert(0, points["value"][~superseded])
        if sum(map(len, found)) >= number:
            break
    return np.concatenate([np.empty(0), *found])[-number:]

"""Reads of one series from the database: summaries of finished chunks, and points with their visibility."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.metrics.buckets import Points
from backend.metrics.models import MetricChunk, MetricPage, MetricSeries
from backend.metrics.points import NO_POINTS, NO_SUMMARIES, POINT, SUMMARY, Array, Bools, Floats, Ints, summarize
from backend.metrics.visibility import RunView

# Chunks per query: 2 MB of points.
CHUNKS_PER_READ = 256


class StoredChunk(NamedTuple):
    """The points of one chunk, and which of them are superseded."""

    attempt: int
    points: Array
    superseded: Bools


def at_attempt(values: Array, attempts: Ints | int) -> Array:
    """Return the values of these attempts. An attempt beyond the end has the last value."""
    return np.asarray(values[np.minimum(attempts, len(values) - 1)])


def read_summaries(session: Session, series: MetricSeries) -> Array:
    """Return the summaries of the finished chunks. Ignore chunks added since the series' row was read."""
    pages = session.scalars(
        select(MetricPage.data).where(MetricPage.series_id == series.id).order_by(MetricPage.number)
    ).all()
    return unpack_summaries(series, pages)


def unpack_summaries(series: MetricSeries, pages: Sequence[bytes]) -> Array:
    """Return the summaries of the finished chunks in these pages. Ignore those added since the series' row was read."""
    return np.frombuffer(b"".join(pages), SUMMARY)[: series.chunks - bool(series.tail)] if pages else NO_SUMMARIES


def read_points(session: Session, series: MetricSeries, summaries: Array, numbers: Ints) -> Points:
    """Return the points of these finished chunks and all points of the unfinished one."""
    blobs: list[bytes] = []
    for start in range(0, len(numbers), CHUNKS_PER_READ):
        some = [int(number) for number in numbers[start : start + CHUNKS_PER_READ]]
        found = select(MetricChunk.data).where(MetricChunk.series_id == series.id, MetricChunk.number.in_(some))
        blobs += session.scalars(found.order_by(MetricChunk.number))
    records = np.frombuffer(b"".join(blobs), POINT)
    chunks = np.repeat(numbers, summaries["count"][numbers])
    attempts = summaries["attempt"][chunks]
    unfinished = session.get(MetricChunk, (series.id, series.chunks - 1)) if series.tail else None
    if unfinished is None:
        return Points(records, attempts, chunks)
    # Points appended since the series' row was read are ignored.
    tail = np.frombuffer(unfinished.data, POINT)[: series.tail]
    return Points(
        np.concatenate([records, tail]),
        np.append(attempts, np.full(len(tail), unfinished.attempt)),
        np.append(chunks, np.full(len(tail), len(summaries))),
    )


def visible_summaries(session: Session, series: MetricSeries, limits: Ints) -> Array:
    """Return summaries of all visible points: whole chunks where possible, else single points."""
    summaries = read_summaries(session, series)
    limit = at_attempt(limits, summaries["attempt"])
    whole = summaries["last_step"] <= limit
    opened = np.flatnonzero(~whole & (summaries["first_step"] <= limit))
    points = read_points(session, series, summaries, opened)
    points = points.where(points.records["step"] <= at_attempt(limits, points.attempts))
    each = np.arange(len(points.chunks))
    return np.concatenate([summaries[whole], summarize(points.records, each, points.attempts)])


def chunk_ranges(series: MetricSeries) -> list[range]:
    """Return ranges of the series' chunk numbers that are small enough to read into memory."""
    return [
        range(start, min(start + CHUNKS_PER_READ, series.chunks)) for start in range(0, series.chunks, CHUNKS_PER_READ)
    ]


def read_chunks(session: Session, series: MetricSeries, limits: Ints, numbers: range) -> list[StoredChunk]:
    """Return these chunks in order, with superseded points marked."""
    found = select(MetricChunk.number, MetricChunk.attempt, MetricChunk.data).where(
        MetricChunk.series_id == series.id, MetricChunk.number.between(min(numbers), max(numbers))
    )
    chunks = []
    for number, attempt, data in session.execute(found.order_by(MetricChunk.number)):
        points = np.frombuffer(data, POINT)
        if series.tail and number == series.chunks - 1:
            points = points[: series.tail]
        chunks.append(StoredChunk(attempt, points, points["step"] > at_attempt(limits, attempt)))
    return chunks


def visible_points(session: Session, series: MetricSeries, view: RunView) -> tuple[Array, Floats]:
    """Return all visible points of the series and the seconds of training before each."""
    records, seconds = [NO_POINTS], [np.empty(0)]
    for numbers in chunk_ranges(series):
        for attempt, points, superseded in read_chunks(session, series, view.limits, numbers):
            visible = points[~superseded]
            records.append(visible)
            seconds.append(visible["time"] - at_attempt(view.shifts, attempt))
    return np.concatenate(records), np.concatenate(seconds)


def visible_values(session: Session, series: MetricSeries, limits: Ints) -> Iterator[Floats]:
    """Yield the visible values in order, one range of chunks after the other."""
    for numbers in chunk_ranges(series):
        chunks = read_chunks(session, series, limits, numbers)
        yield np.concatenate([points["value"][~superseded] for _attempt, points, superseded in chunks])


def last_values(session: Session, series: MetricSeries, limits: Ints, count: int) -> Floats:
    """Return the last `count` visible values."""
    summaries = read_summaries(session, series)
    candidates = np.flatnonzero(summaries["first_step"] <= at_attempt(limits, summaries["attempt"])).tolist()
    if series.tail:
        candidates.append(len(summaries))
    found: list[Floats] = []
    for last in reversed(candidates):
        for _attempt, points, superseded in read_chunks(session, series, limits, range(last, last + 1)):
            found.insert(0, points["value"][~superseded])
        if sum(map(len, found)) >= count:
            break
    return np.concatenate([np.empty(0), *found])[-count:]

"""Schemas of metrics, and reads of one series: summaries of finished chunks, and points with their visibility."""

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.errors import FieldError, Invalid, Problem
from backend.metrics.points import (
    NO_POINTS,
    NO_SUMMARIES,
    POINT,
    SUMMARY,
    Array,
    Bools,
    Floats,
    Ints,
    MetricChunk,
    MetricPage,
    MetricSeries,
    Points,
    RunView,
    summarize,
)
from backend.web.formats import JsonNumber
from workers.contract.metrics import EPISODE_RETURN, MEAN_RETURN

MAX_BUCKETS = 5_000
# Any text of one line. The server stores only printable names, without spaces around them.
NAME_PATTERN = r"^[^\x00-\x1f\x7f]{1,200}$"
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")

Axis = Literal["step", "frames", "time", "epoch"]


def split_names(text: str, field: str = "names") -> list[str]:
    """Return the metric names of a query parameter, which are separated by commas.

    A name with a comma is in double quotes, as in CSV: "loss, mean",accuracy. Raise Invalid for control characters.
    """
    if _CONTROL_CHARACTER.search(text):
        message = "list names such as ga3c/agents,ga3c/trainers, without line breaks or other control characters"
        raise Invalid(FieldError(field=field, message=message))
    return [name for row in csv.reader([text]) for name in row if name]


class SeriesPoints(BaseModel):
    """One series. Each place is a point, or all points of a bucket. NaN and the infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    resolution: Literal["raw", "buckets"]
    total: int
    x: list[float]
    mean: list[JsonNumber]
    min: list[JsonNumber]
    max: list[JsonNumber]
    last: list[JsonNumber]
    count: list[int]


class Sparkline(BaseModel):
    """A small curve: the means of a metric in equal parts of the steps so far, null for a part without points."""

    run_id: int
    values: list[float | None]


class RunMetrics(BaseModel):
    """Series of one run.

    `complete` is true if the response has every point of the range: none is merged into a bucket, and none is left out
    because an earlier response had it.
    """

    run_id: int
    x: Axis
    cursor: str
    complete: bool
    continues: bool = Field(
        description="True if the points follow those of the earlier response, false if they replace it."
    )
    series: dict[str, SeriesPoints]


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

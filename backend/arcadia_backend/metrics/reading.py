"""Schemas of metrics, reads of one series with the visibility of its points, and the buckets of curves."""

import csv
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics.points import (
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
    RunView,
    select_at,
    summarize,
)
from arcadia_backend.web.formats import JsonNumber
from arcadia_workers.contract.metrics import EPISODE_RETURN, MEAN_RETURN

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


@dataclass(frozen=True)
class Points:
    """Points in order, with the attempt and the chunk of each."""

    records: Array
    attempts: Ints
    chunks: Ints

    def where(self, wanted: Bools) -> "Points":
        """Return the selected points."""
        return self if wanted.all() else Points(self.records[wanted], self.attempts[wanted], self.chunks[wanted])

    def in_order(self, x: Floats) -> tuple["Points", Floats]:
        """Return the points and their x, in the order of x within each attempt.

        The files of parallel environments are imported one after another, so their points are stored that way.
        """
        order = np.lexsort((x, self.attempts))
        if (np.diff(order) == 1).all():
            return self, x
        return Points(self.records[order], self.attempts[order], np.zeros_like(self.chunks)), x[order]

    def ordinals(self, chunk_sizes: Ints) -> Ints:
        """Return how many points of the series were stored before each point."""
        before = np.append(0, np.cumsum(chunk_sizes))
        return np.asarray(before[self.chunks] + np.arange(len(self.chunks)) - np.searchsorted(self.chunks, self.chunks))


@dataclass(frozen=True)
class Bins:
    """Parts of the x axis of equal width, or of equal ratio on a logarithmic axis.

    Borders are multiples of the width, so they do not move when the axis grows.
    """

    first: int
    width: float
    number: int
    log: bool = False

    @property
    def borders(self) -> Floats:
        """Return the start of each bin and the end of the last one."""
        scaled = np.arange(self.first, self.first + self.number + 1) * self.width
        return np.asarray(np.exp(scaled) if self.log else scaled, np.float64)

    def index(self, x: Floats) -> Ints:
        """Return the bin of each x."""
        bins = np.floor(_scaled(x, self.log) / self.width) - self.first
        return np.asarray(np.clip(bins, 0, self.number - 1), np.int64)

    def must_split(self, first: Floats, last: Floats) -> Bools:
        """Return True for each span that crosses bins and is too wide to count as part of one bin."""
        wide = _scaled(last, self.log) - _scaled(first, self.log) > self.width / 4
        return np.asarray(wide & (self.index(first) != self.index(last)))


def bins_around(x: Floats, low: float, high: float, max_bins: int, log: bool = False) -> Bins:
    """Return bins over the part of the axis from `low` to `high` that has values."""
    if log:
        x = x[x > 0]
    return bins_over(max(low, float(x.min(initial=np.inf))), min(high, float(x.max(initial=-np.inf))), max_bins, log)


def bins_over(low: float, high: float, max_bins: int, log: bool = False) -> Bins:
    """Return the narrowest bins of which at most `max_bins` reach from `low` to `high`."""
    low, high = _scaled(np.array([low, high]), log).tolist()
    span = high - low
    if not 0 < span < math.inf:
        return Bins(math.floor(low) if math.isfinite(low) else 0, 1.0, 1, log)
    width = round_width(span / max_bins)
    while (number := math.floor(high / width) - math.floor(low / width) + 1) > max_bins and width <= span:
        width = round_width(math.nextafter(width, math.inf))
    return Bins(math.floor(low / width), width, min(number, max_bins), log)


def round_width(minimum: float) -> float:
    """Round a width up to 4, 5, 6, 7 or 8 eighths of a power of two, so that it rarely changes while an axis grows."""
    mantissa, exponent = math.frexp(minimum)
    return math.ldexp(math.ceil(mantissa * 8) / 8, exponent)


def _scaled(x: Floats, log: bool) -> Floats:
    # Step 0 has no logarithm. It is drawn at the edge, so it belongs to the first bin.
    return np.log(np.maximum(x, 1e-9)) if log else x


@dataclass(frozen=True)
class Curve:
    """A series as a chart draws it. Each place represents consecutive points. Together they represent all points."""

    raw: bool
    total: int
    x: Floats
    mean: Floats
    min: Floats
    max: Floats
    last: Floats
    count: Ints


_NONE = np.empty(0)
NO_CURVE = Curve(True, 0, _NONE, _NONE, _NONE, _NONE, _NONE, np.empty(0, np.int64))


def to_curve(
    summaries: Array, whole: Ints, whole_x: Floats, points: Points, points_x: Floats, bins: Bins, max_places: int
) -> Curve:
    """Merge whole chunks with points of other chunks into a curve.

    Return every point if there are at most `max_places`, else one place for each bin. `whole_x` has the ends of the
    whole chunks on the x axis.
    """
    single = not len(whole) and len(points_x) <= max_places
    groups = np.arange(len(points_x)) if single else bins.index(points_x)
    changes = (np.diff(groups, prepend=-1) != 0) | (np.diff(points.chunks, prepend=-1) != 0)
    starts = np.flatnonzero(changes)
    order = np.argsort(np.concatenate([whole, points.chunks[starts]]), kind="stable")
    merged = np.concatenate([summaries[whole], summarize(points.records, starts, points.attempts[starts])])[order]
    x = np.concatenate([whole_x, np.maximum.reduceat(points_x, starts)])[order] if len(starts) else whole_x
    return _reduce(merged, x, bins, max_places)


def _reduce(summaries: Array, x: Floats, bins: Bins, max_places: int) -> Curve:
    if not len(summaries):
        return NO_CURVE
    total = int(summaries["count"].sum())
    if total <= max_places and total == len(summaries):
        starts = np.arange(total)
    else:
        # The running maximum keeps a bucket whole where a clock was set back.
        starts = np.flatnonzero(np.diff(np.maximum.accumulate(bins.index(x)), prepend=-1))
    ends = np.append(starts[1:], len(summaries)) - 1
    count = np.add.reduceat(summaries["count"], starts)
    with np.errstate(invalid="ignore"):
        mean = np.add.reduceat(summaries["sum"], starts) / count
    return Curve(
        raw=len(starts) == total,
        total=total,
        x=x[ends],
        mean=mean,
        min=np.fmin.reduceat(summaries["min"], starts),
        max=np.fmax.reduceat(summaries["max"], starts),
        last=summaries["last"][ends],
        count=count,
    )


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


def read_summaries(session: Session, every: Sequence[MetricSeries]) -> list[Array]:
    """Return the summaries of the finished chunks of each series. Ignore chunks added since its row was read."""
    query = select(MetricPage.series_id, MetricPage.data).where(MetricPage.series_id.in_([each.id for each in every]))
    pages: dict[int, list[bytes]] = {}
    for series_id, data in session.execute(query.order_by(MetricPage.series_id, MetricPage.number)):
        pages.setdefault(series_id, []).append(data)
    return [unpack_summaries(series, pages.get(series.id, [])) for series in every]


def unpack_summaries(series: MetricSeries, pages: Sequence[bytes]) -> Array:
    """Return the summaries of the finished chunks in these pages. Ignore those added since the series' row was read."""
    return np.frombuffer(b"".join(pages), SUMMARY)[: series.chunks - bool(series.tail)] if pages else NO_SUMMARIES


class Opened(NamedTuple):
    """A series, its summaries, and the numbers of the finished chunks whose points are needed."""

    series: MetricSeries
    summaries: Array
    numbers: Ints


def read_points(session: Session, every: Iterable[Opened]) -> Iterator[Points]:
    """Yield for each series the points of its opened chunks and all points of the unfinished one."""
    together: list[Opened] = []
    size = 0
    for opened in every:
        chunks = len(opened.numbers) + 1
        if together and size + chunks > CHUNKS_PER_READ:
            yield from _read_together(session, together)
            together, size = [], 0
        together.append(opened)
        size += chunks
    yield from _read_together(session, together)


def _read_together(session: Session, every: Sequence[Opened]) -> Iterator[Points]:
    keys = [(series.id, number) for series, _summaries, numbers in every for number in numbers.tolist()]
    keys += [(series.id, series.chunks - 1) for series, _summaries, _numbers in every if series.tail]
    columns = (MetricChunk.series_id, MetricChunk.number, MetricChunk.attempt, MetricChunk.data)
    chunks: dict[tuple[int, int], tuple[int, bytes]] = {}
    for start in range(0, len(keys), CHUNKS_PER_READ):
        query = select_at(MetricChunk, keys[start : start + CHUNKS_PER_READ]).with_only_columns(*columns)
        for series_id, number, attempt, data in session.execute(query):
            chunks[series_id, number] = attempt, data
    for series, summaries, numbers in every:
        finished = [chunks[series.id, number][1] for number in numbers.tolist()]
        records = np.frombuffer(b"".join(finished), POINT)
        places = np.repeat(numbers, summaries["count"][numbers])
        attempts = summaries["attempt"][places]
        unfinished = chunks.get((series.id, series.chunks - 1)) if series.tail else None
        if unfinished is None:
            yield Points(records, attempts, places)
            continue
        # Points appended since the series' row was read are ignored.
        attempt, data = unfinished
        tail = np.frombuffer(data, POINT)[: series.tail]
        yield Points(
            np.concatenate([records, tail]),
            np.append(attempts, np.full(len(tail), attempt)),
            np.append(places, np.full(len(tail), len(summaries))),
        )


def visible_summaries(session: Session, every: Sequence[MetricSeries], limits: Sequence[Ints]) -> list[Array]:
    """Return summaries of all visible points of each series: whole chunks where possible, else single points."""
    summaries = read_summaries(session, every)
    ends = [at_attempt(limit, each["attempt"]) for limit, each in zip(limits, summaries, strict=True)]
    whole = [each["last_step"] <= end for each, end in zip(summaries, ends, strict=True)]
    opened = (
        Opened(series, each, np.flatnonzero(~is_whole & (each["first_step"] <= end)))
        for series, each, is_whole, end in zip(every, summaries, whole, ends, strict=True)
    )
    visible = []
    for points, each, is_whole, limit in zip(read_points(session, opened), summaries, whole, limits, strict=True):
        shown = points.where(points.records["step"] <= at_attempt(limit, points.attempts))
        single = summarize(shown.records, np.arange(len(shown.chunks)), shown.attempts)
        visible.append(np.concatenate([each[is_whole], single]))
    return visible


def chunk_ranges(series: MetricSeries) -> list[range]:
    """Return ranges of the series' chunk numbers that are small enough to read into memory."""
    return [
        range(start, min(start + CHUNKS_PER_READ, series.chunks)) for start in range(0, series.chunks, CHUNKS_PER_READ)
    ]


def read_chunks(session: Session, series: MetricSeries, limits: Ints, numbers: range) -> list[StoredChunk]:
    """Return these chunks in order, with superseded points marked."""
    query = select(MetricChunk.number, MetricChunk.attempt, MetricChunk.data).where(
        MetricChunk.series_id == series.id, MetricChunk.number.between(min(numbers), max(numbers))
    )
    chunks = []
    for number, attempt, data in session.execute(query.order_by(MetricChunk.number)):
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
    [summaries] = read_summaries(session, [series])
    candidates = np.flatnonzero(summaries["first_step"] <= at_attempt(limits, summaries["attempt"])).tolist()
    if series.tail:
        candidates.append(len(summaries))
    parts: list[Floats] = []
    for last in reversed(candidates):
        for _attempt, points, superseded in read_chunks(session, series, limits, range(last, last + 1)):
            parts.insert(0, points["value"][~superseded])
        if sum(map(len, parts)) >= count:
            break
    return np.concatenate([np.empty(0), *parts])[-count:]


def find_shared_series(session: Session, run_ids: Collection[int], name: str) -> dict[int, MetricSeries]:
    """Return a series of each run that has it. A run without episodes has mean returns instead of returns."""
    names = (name, MEAN_RETURN) if name == EPISODE_RETURN else (name,)
    series_of_runs = session.scalars(
        select(MetricSeries).where(MetricSeries.run_id.in_(run_ids), MetricSeries.name.in_(names))
    ).all()
    means = {series.run_id: series for series in series_of_runs if series.name != name}
    return means | {series.run_id: series for series in series_of_runs if series.name == name}

"""Packed points and summaries of a series, their visibility, and buckets (docs/decisions/0011-metric-store.md)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from backend.database.tables import Attempt, Base, Id
from workers.contract.events import Metrics
from workers.contract.metrics import EPISODE_LENGTH, EPISODE_RETURN


class MetricSeries(Base):
    """One metric of one run. Its statistics leave out superseded points."""

    __tablename__ = "metric_series"
    __table_args__ = (UniqueConstraint("run_id", "name"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))

    count: Mapped[int] = mapped_column(BigInteger, default=0)
    last: Mapped[float | None]
    min: Mapped[float | None]
    max: Mapped[float | None]
    # Mean and values of the last 100 points.
    recent_mean: Mapped[float | None]
    recent: Mapped[bytes] = mapped_column(LargeBinary, default=b"")

    # Stored points and chunks, and how many of the points are in an unfinished last chunk.
    stored: Mapped[int] = mapped_column(BigInteger, default=0)
    chunks: Mapped[int] = mapped_column(default=0)
    tail: Mapped[int] = mapped_column(default=0)


class MetricChunk(Base):
    """Up to 256 points of one attempt, packed."""

    __tablename__ = "metric_chunks"

    series_id: Mapped[int] = mapped_column(ForeignKey("metric_series.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    attempt: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class MetricPage(Base):
    """Summaries of up to 64 finished chunks, packed, in the order of the chunks."""

    __tablename__ = "metric_pages"

    series_id: Mapped[int] = mapped_column(ForeignKey("metric_series.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class MetricClock(Base):
    """The first and last event time of an attempt, in Unix seconds by its trainer's clock."""

    __tablename__ = "metric_clocks"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    first: Mapped[float]
    last: Mapped[float]


# Points in a full chunk. A chunk is summarized, read and rewritten as a whole.
CHUNK = 256
# Summaries in a full page.
PAGE = 64

POINT = np.dtype([("step", "<i8"), ("frames", "<i8"), ("time", "<f8"), ("value", "<f8")])

# Statistics of consecutive points of one attempt. A summary of a single point has all that the point has.
SUMMARY = np.dtype(
    [
        ("attempt", "<i8"),
        ("count", "<i8"),
        ("first_step", "<i8"),
        ("last_step", "<i8"),
        ("first_frames", "<i8"),
        ("last_frames", "<i8"),
        ("first_time", "<f8"),
        ("last_time", "<f8"),
        ("min", "<f8"),
        ("max", "<f8"),
        ("sum", "<f8"),
        ("last", "<f8"),
    ]
)

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool]

NO_POINTS: Array = np.empty(0, POINT)
NO_SUMMARIES: Array = np.empty(0, SUMMARY)


def pack_events(metrics: Sequence[Metrics]) -> dict[str, Array]:
    """Return the values and episodes of the events as points by series name, ordered by step."""
    rows: dict[str, list[tuple[int, int, float, float]]] = {}
    for event in metrics:
        for name, value in event.values.items():
            rows.setdefault(name, []).append((event.step, event.frames, event.time, value))
        for episode in event.episodes:
            returned = (episode.step, episode.frames, event.time, episode.episode_return)
            rows.setdefault(EPISODE_RETURN, []).append(returned)
            lasted = (episode.step, episode.frames, event.time, float(episode.length))
            rows.setdefault(EPISODE_LENGTH, []).append(lasted)
    return {name: sort_by_step(np.array(points, POINT)) for name, points in rows.items()}


def sort_by_step(points: Array) -> Array:
    """Return the points ordered by step. Points of one step keep their order."""
    steps = points["step"]
    if (steps[1:] >= steps[:-1]).all():
        return points
    return points[np.argsort(steps, kind="stable")]


def summarize(points: Array, starts: Ints, attempts: int | Ints) -> Array:
    """Return one summary for the points from each start to the next. `attempts` has the attempt of each start.

    The minimum and maximum ignore NaN. The count and the sum do not.
    """
    summaries = np.empty(len(starts), SUMMARY)
    if not len(starts):
        return summaries
    summaries["attempt"] = attempts
    summaries["count"] = np.diff(starts, append=len(points))
    for axis in ("step", "frames", "time"):
        summaries[f"first_{axis}"] = np.minimum.reduceat(points[axis], starts)
        summaries[f"last_{axis}"] = np.maximum.reduceat(points[axis], starts)
    values = points["value"]
    summaries["min"] = np.fmin.reduceat(values, starts)
    summaries["max"] = np.fmax.reduceat(values, starts)
    with np.errstate(invalid="ignore"):
        summaries["sum"] = np.add.reduceat(values, starts)
    summaries["last"] = values[np.append(starts[1:], len(points)) - 1]
    return summaries


NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RunView:
    """The visible part of a run. An attempt beyond the end of an array has the values of the last one.

    `limits` has the last visible step of each attempt; later attempts supersede the points beyond it. `shifts` has the
    Unix time to subtract from an attempt's times to get seconds of training since the run first started.
    """

    limits: Ints
    shifts: Floats


def load_run_views(session: Session, run_ids: Sequence[int]) -> dict[int, RunView]:
    """Return the current view of each run."""
    limits = load_limits(session, run_ids)
    found = select(MetricClock).where(MetricClock.run_id.in_(run_ids)).order_by(MetricClock.attempt)
    clocks: dict[int, list[MetricClock]] = {run_id: [] for run_id in run_ids}
    for clock in session.scalars(found):
        clocks[clock.run_id].append(clock)
    return {run_id: RunView(limits[run_id], _clock_shifts(clocks[run_id])) for run_id in run_ids}


def load_limits(session: Session, run_ids: Sequence[int]) -> dict[int, Ints]:
    """Return the last visible step of each attempt, by run."""
    return {run_id: limits_after(resumed) for run_id, resumed in load_resumed_steps(session, run_ids).items()}


def load_resumed_steps(session: Session, run_ids: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return each started attempt with the step that it resumed from, by run."""
    started = select(Attempt.run_id, Attempt.attempt, Attempt.resumed_step).where(
        Attempt.run_id.in_(run_ids), Attempt.resumed_step.is_not(None)
    )
    found: dict[int, list[tuple[int, int]]] = {run_id: [] for run_id in run_ids}
    for run_id, attempt, step in session.execute(started):
        found[run_id].append((attempt, step or 0))
    return found


def limits_after(resumed: Sequence[tuple[int, int]]) -> Ints:
    """Return the last visible step of each attempt, given the started attempts and the steps they resumed from."""
    limits = np.full(max((attempt for attempt, _step in resumed), default=0) + 1, NO_LIMIT, np.int64)
    for attempt, step in resumed:
        limits[:attempt] = np.minimum(limits[:attempt], step)
    return limits


def _clock_shifts(clocks: Sequence[MetricClock]) -> Floats:
    shifts = np.zeros(clocks[-1].attempt + 1 if clocks else 1)
    trained = 0.0
    for clock in clocks:
        shifts[clock.attempt] = clock.first - trained
        trained += clock.last - clock.first
    return shifts


def training_seconds(session: Session, run_ids: Sequence[int]) -> dict[int, float]:
    """Return how long each run has trained in all its attempts."""
    seconds = dict.fromkeys(run_ids, 0.0)
    for clock in session.scalars(select(MetricClock).where(MetricClock.run_id.in_(run_ids))):
        seconds[clock.run_id] += clock.last - clock.first
    return seconds


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

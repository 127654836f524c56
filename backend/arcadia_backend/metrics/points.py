"""Packed points and summaries of a series, and their visibility (docs/decisions/0011-metric-store.md)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Integer,
    LargeBinary,
    Select,
    String,
    UniqueConstraint,
    and_,
    column,
    select,
    values,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from arcadia_backend.database.tables import Attempt, Base, Id


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


Stored = TypeVar("Stored", MetricChunk, MetricPage)


def select_at(table: type[Stored], keys: Sequence[tuple[int, int]]) -> Select[Stored]:
    """Select the rows with these pairs of series and number, of which there must be at least one.

    For `(series_id, number) IN (...)`, SQLite would read the whole table.
    """
    wanted = values(column("series_id", Integer), column("number", Integer), name="wanted").data(keys).cte("wanted")
    is_wanted = and_(table.series_id == wanted.c.series_id, table.number == wanted.c.number)
    return select(table).join(wanted, is_wanted)


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
    query = select(MetricClock).where(MetricClock.run_id.in_(run_ids)).order_by(MetricClock.attempt)
    clocks: dict[int, list[MetricClock]] = {run_id: [] for run_id in run_ids}
    for clock in session.scalars(query):
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
    resumed: dict[int, list[tuple[int, int]]] = {run_id: [] for run_id in run_ids}
    for run_id, attempt, step in session.execute(started):
        resumed[run_id].append((attempt, step or 0))
    return resumed


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

"""A series as a chart wants it: on one of four axes, within a window, in as many buckets as there is room for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.metrics.buckets import Bins, Curve, as_curve, bins_over
from backend.metrics.models import MetricClock, MetricSeries
from backend.metrics.points import NO_POINTS, Array, Floats, Ints, summarise
from backend.metrics.reading import (
    Points,
    finished,
    limit_of,
    points_of,
    portions,
    stored_chunks,
    visible_limits,
    visible_summaries,
)
from backend.metrics.schemas import Axis

FRAMES_PER_EPOCH = 4_000_000


@dataclass(frozen=True)
class Window:
    """What part of a series is wanted, and how finely."""

    axis: Axis
    low: float = -np.inf
    high: float = np.inf
    buckets: int = 500
    log: bool = False


@dataclass(frozen=True)
class RunView:
    """How a run's points are to be seen: which are superseded, and where on the time axis an attempt begins."""

    limits: Ints
    shifts: Floats


def run_views(session: Session, run_ids: Sequence[int]) -> dict[int, RunView]:
    """How the points of each run are to be seen now."""
    limits = visible_limits(session, run_ids)
    found = select(MetricClock).where(MetricClock.run_id.in_(run_ids)).order_by(MetricClock.attempt)
    clocks: dict[int, list[MetricClock]] = {run_id: [] for run_id in run_ids}
    for clock in session.scalars(found):
        clocks[clock.run_id].append(clock)
    return {run_id: RunView(limits[run_id], _clock_shifts(clocks[run_id])) for run_id in run_ids}


def _clock_shifts(clocks: Sequence[MetricClock]) -> Floats:
    """By attempt, what to take from a Unix time to get seconds of training since the run first started."""
    shifts = np.zeros(clocks[-1].attempt + 1 if clocks else 1)
    trained = 0.0
    for clock in clocks:
        shifts[clock.attempt] = clock.first - trained
        trained += clock.last - clock.first
    return shifts


def training_seconds(session: Session, run_ids: Sequence[int]) -> dict[int, float]:
    """How long each run has trained, all attempts together."""
    seconds = dict.fromkeys(run_ids, 0.0)
    for clock in session.scalars(select(MetricClock).where(MetricClock.run_id.in_(run_ids))):
        seconds[clock.run_id] += clock.last - clock.first
    return seconds


def read_curve(session: Session, series: MetricSeries, seen: RunView, window: Window, skip: int = 0) -> Curve:
    """The series within the window, leaving out the first `skip` points that were ever stored."""
    chunks = finished(session, series)
    first, last = (_place(chunks, end, chunks["attempt"], seen, window.axis) for end in ("first_", "last_"))
    limits = limit_of(chunks["attempt"], seen.limits)
    stored = np.cumsum(chunks["count"])
    touched = (last >= window.low) & (first <= window.high) & (chunks["first_step"] <= limits) & (stored > skip)
    partly = (first < window.low) | (last > window.high) | (chunks["last_step"] > limits)
    partly |= stored - chunks["count"] < skip

    bins = _bins(np.append(first[touched], last[touched]), window)
    # A few thousand points are looked at singly, so that what fits is shown raw.
    few = chunks["count"][touched].sum() <= 4 * window.buckets
    opened = touched & (partly | few | bins.torn(first, last))
    points = points_of(session, series, chunks, np.flatnonzero(opened))
    x = _place(points.records, "", points.attempts, seen, window.axis)
    wanted = (x >= window.low) & (x <= window.high) & (points.records["step"] <= limit_of(points.attempts, seen.limits))
    if skip:
        wanted &= points.ordinals(chunks["count"]) >= skip
    points, x = points.where(wanted), x[wanted]

    closed = np.flatnonzero(touched & ~opened)
    bins = _bins(np.concatenate([first[closed], last[closed], x]), window)
    single = not len(closed) and len(x) <= window.buckets
    summaries = _merge(chunks, closed, points, np.arange(len(x)) if single else bins.of(x))
    return as_curve(
        summaries, _place(summaries, "last_", summaries["attempt"], seen, window.axis), bins, window.buckets
    )


def every_point(session: Session, series: MetricSeries, seen: RunView) -> tuple[Array, Floats]:
    """All points of the series that are not superseded, and how many seconds of training came before each."""
    records, seconds = [NO_POINTS], [np.empty(0)]
    for numbers in portions(series):
        for attempt, stored, superseded in stored_chunks(session, series, seen.limits, numbers):
            points = stored[~superseded]
            records.append(points)
            seconds.append(_place(points, "", np.full(len(points), attempt), seen, "time"))
    return np.concatenate(records), np.concatenate(seconds)


@dataclass(frozen=True)
class Extent:
    """From where to where a series reaches on an axis, and by how many points."""

    low: float
    high: float
    count: int

    @property
    def span(self) -> float:
        """How long it is."""
        return max(0.0, self.high - self.low)


def extent(session: Session, series: MetricSeries, seen: RunView, axis: Axis) -> Extent:
    """The extent of the whole series."""
    summaries = visible_summaries(session, series, seen.limits)
    first, last = (_place(summaries, end, summaries["attempt"], seen, axis) for end in ("first_", "last_"))
    if not len(summaries):
        return Extent(0.0, 0.0, 0)
    return Extent(float(first.min()), float(last.max()), int(summaries["count"].sum()))


def _place(records: Array, end: str, attempts: Ints, seen: RunView, axis: Axis) -> Floats:
    """Where points stand on the axis, or with `first_` or `last_` that end of summaries."""
    if axis == "time":
        x = records[f"{end}time"] - seen.shifts[np.minimum(attempts, len(seen.shifts) - 1)]
    elif axis == "epoch":
        x = records[f"{end}frames"] / FRAMES_PER_EPOCH
    else:
        x = records[f"{end}{axis}"]
    return np.asarray(x, np.float64)


def _bins(x: Floats, window: Window) -> Bins:
    """The window's bins, no wider than what there is to show."""
    if window.log:
        x = x[x > 0]
    low, high = float(x.min(initial=np.inf)), float(x.max(initial=-np.inf))
    return bins_over(max(low, window.low), min(high, window.high), window.buckets, window.log)


def _merge(chunks: Array, closed: Ints, points: Points, groups: Ints) -> Array:
    """In order, the summaries of closed chunks, and of those points on end that are of one chunk and one group."""
    changes = np.diff(groups, prepend=-1) != 0
    changes |= np.diff(points.chunks, prepend=-1) != 0
    starts = np.flatnonzero(changes)
    opened = summarise(points.records, starts, points.attempts[starts])
    order = np.argsort(np.concatenate([closed, points.chunks[starts]]), kind="stable")
    return np.asarray(np.concatenate([chunks[closed], opened])[order])

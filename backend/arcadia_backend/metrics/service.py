"""Series of a run, storage of their points, and removal of superseded points from the statistics."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run
from arcadia_backend.errors import Problem
from arcadia_backend.metrics.points import (
    CHUNK,
    NO_SUMMARIES,
    PAGE,
    POINT,
    SUMMARY,
    Array,
    Floats,
    Ints,
    MetricChunk,
    MetricClock,
    MetricPage,
    MetricSeries,
    limits_after,
    load_resumed_steps,
    select_at,
    summarize,
)
from arcadia_backend.metrics.reading import NAME_PATTERN, last_values, visible_summaries, visible_values
from arcadia_workers.contract.events import Metrics
from arcadia_workers.contract.metrics import EPISODE_LENGTH, EPISODE_RETURN, MEAN_RETURN

# The last points that means are taken over.
RECENT = 100
# Lists of metrics, and tables of their last values, stay usable up to about this number.
MAX_SERIES = 10_000


class UnstorableMetric(Problem):
    """A metric with an invalid name, or one more than a run may have."""

    status = 422
    kind = "unstorable-metric"
    title = "Metric cannot be stored"


def store(session: Session, run: Run, attempt: int, metrics: Sequence[Metrics]) -> None:
    """Store the values and episodes of new events. The caller holds the run's row lock and commits."""
    if not metrics:
        return
    arrived = pack_events(metrics)
    times = [event.time for event in metrics]
    advance_clock(session, run.id, attempt, min(times), max(times))
    append(session, run, attempt, find_or_add_series(session, run.id, arrived), arrived)


def append(
    session: Session, run: Run, attempt: int, known: Mapping[str, MetricSeries], arrived: Mapping[str, Array]
) -> None:
    """Append points, ordered by step, to the series of the same names.

    They change the returns of the run. Means are its returns only if it has no episodes, because they count none.
    """
    append_points(session, attempt, known, arrived)
    for name, points in arrived.items():
        series = known[name]
        if name == EPISODE_RETURN:
            run.best_return = best_mean(_recent(series), points["value"], series.count, run.best_return)
        update_statistics(series, points["value"])
        if name == EPISODE_RETURN:
            run.last_return, run.episodes = series.recent_mean, series.count
    if MEAN_RETURN in arrived and not run.episodes:
        run.last_return, run.best_return = known[MEAN_RETURN].last, known[MEAN_RETURN].max


def append_points(
    session: Session, attempt: int, known: Mapping[str, MetricSeries], arrived: Mapping[str, Array]
) -> None:
    """Append points to the chunks and pages of the series of the same names, but not to their statistics."""
    tails = _unfinished_chunks(session, known.values())
    full: dict[int, Array] = {}
    for name, points in arrived.items():
        series = known[name]
        finished = _append(session, series, tails.get(series.id), points, attempt)
        if len(finished):
            full[series.id] = finished
    _add_to_pages(session, [series for series in known.values() if series.id in full], full)


def supersede(session: Session, run: Run, attempt: int, step: int) -> None:
    """Remove points of earlier attempts beyond the step from all statistics. They stay stored."""
    limits = limits_after([*load_resumed_steps(session, [run.id])[run.id], (attempt, step)])
    every = list(session.scalars(select(MetricSeries).where(MetricSeries.run_id == run.id)))
    for series in every:
        recompute_statistics(session, series, limits)
        if series.name == EPISODE_RETURN:
            run.last_return, run.episodes = series.recent_mean, series.count
            run.best_return = _recompute_best(session, series, limits)


def recompute_statistics(session: Session, series: MetricSeries, limits: Ints) -> None:
    """Compute the statistics of a series from its visible points."""
    [visible] = visible_summaries(session, [series], [limits])
    series.count = int(visible["count"].sum())
    series.min = float(np.fmin.reduce(visible["min"])) if len(visible) else None
    series.max = float(np.fmax.reduce(visible["max"])) if len(visible) else None
    _set_recent(series, last_values(session, series, limits, RECENT))


def _recompute_best(session: Session, series: MetricSeries, limits: Ints) -> float | None:
    best, count, before = None, 0, np.empty(0)
    for values in visible_values(session, series, limits):
        best = best_mean(before, values, count, best)
        count += len(values)
        before = np.concatenate([before, values])[-RECENT:]
    return best


def best_mean(before: Floats, values: Floats, count: int, best: float | None) -> float | None:
    """Return the best mean of 100 consecutive values, or the mean of all if there are fewer.

    `count` values came before `values`; `before` has the last of them.
    """
    if not len(values):
        return best
    together = np.concatenate([before[-(RECENT - 1) :] if count >= RECENT else before, values])
    with np.errstate(invalid="ignore"):
        if count + len(values) < RECENT:
            return float(together.mean())
        means = np.lib.stride_tricks.sliding_window_view(together, RECENT).mean(axis=1)
    best_of_these = float(np.fmax.reduce(means))
    return best_of_these if best is None or count < RECENT else float(np.fmax(best, best_of_these))


def advance_clock(session: Session, run_id: int, attempt: int, first: float, last: float) -> None:
    """Record that an attempt trained from the first time to the last. Reported times may be out of order.

    The last time may be minus infinity, for points that are not of the training.
    """
    clock = session.get(MetricClock, (run_id, attempt))
    if clock is None:
        session.add(MetricClock(run_id=run_id, attempt=attempt, first=first, last=max(first, last)))
    else:
        clock.first, clock.last = min(clock.first, first), max(clock.last, last)


def _unfinished_chunks(session: Session, every: Iterable[MetricSeries]) -> dict[int, MetricChunk]:
    """Return the unfinished chunk of each series that has one."""
    keys = [(series.id, series.chunks - 1) for series in every if series.tail]
    if not keys:
        return {}
    return {chunk.series_id: chunk for chunk in session.scalars(select_at(MetricChunk, keys))}


def _append(session: Session, series: MetricSeries, tail: MetricChunk | None, points: Array, attempt: int) -> Array:
    """Append the points to the unfinished chunk and to new ones. Return summaries of the newly finished chunks."""
    closed = NO_SUMMARIES
    if tail is not None and tail.attempt != attempt:
        # A chunk has points of one attempt only, so that a resumed attempt splits at most one chunk.
        closed = summarize(np.frombuffer(tail.data, POINT), np.zeros(1, np.int64), tail.attempt)
        tail = None
    number = series.chunks
    series.stored += len(points)
    if tail is not None:
        number -= 1
        points = np.concatenate([np.frombuffer(tail.data, POINT), points])
        tail.data = points[:CHUNK].tobytes()
    starts = np.arange(0, len(points), CHUNK)
    for index, start in enumerate(starts):
        if index or tail is None:
            data = points[start : start + CHUNK].tobytes()
            session.add(MetricChunk(series_id=series.id, number=number + index, attempt=attempt, data=data))
    series.chunks = number + len(starts)
    series.tail = len(points) % CHUNK
    full = len(points) - series.tail
    return np.concatenate([closed, summarize(points[:full], starts[: full // CHUNK], attempt)])


def _add_to_pages(session: Session, every: Sequence[MetricSeries], finished: dict[int, Array]) -> None:
    """Append the summaries of newly finished chunks to the pages."""
    keys = []
    for series in every:
        before = series.chunks - bool(series.tail) - len(finished[series.id])
        if before % PAGE:
            keys.append((series.id, before // PAGE))
    pages = {page.series_id: page for page in session.scalars(select_at(MetricPage, keys))} if keys else {}
    for series in every:
        before = series.chunks - bool(series.tail) - len(finished[series.id])
        page, summaries = pages.get(series.id), finished[series.id]
        if page is not None:
            summaries = np.concatenate([np.frombuffer(page.data, SUMMARY), summaries])
            page.data = summaries[:PAGE].tobytes()
            summaries = summaries[PAGE:]
            before += PAGE - before % PAGE
        session.add_all(
            MetricPage(
                series_id=series.id,
                number=(before + start) // PAGE,
                data=summaries[start : start + PAGE].tobytes(),
            )
            for start in range(0, len(summaries), PAGE)
        )


def _recent(series: MetricSeries) -> Floats:
    return np.frombuffer(series.recent, "<f8")


def update_statistics(series: MetricSeries, values: Floats) -> None:
    """Add new values to the statistics of a series."""
    lowest, highest = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    series.min = lowest if series.min is None else float(np.fmin(series.min, lowest))
    series.max = highest if series.max is None else float(np.fmax(series.max, highest))
    series.count += len(values)
    _set_recent(series, np.concatenate([_recent(series), values[-RECENT:]]))


def _set_recent(series: MetricSeries, values: Floats) -> None:
    recent = values[-RECENT:]
    series.recent = recent.tobytes()
    series.last = float(recent[-1]) if len(recent) else None
    with np.errstate(invalid="ignore"):
        series.recent_mean = float(recent.mean()) if len(recent) else None


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

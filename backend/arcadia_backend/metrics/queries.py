"""Metrics of runs as clients read them: names, curves, sparklines, and points with a cursor."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.metrics.points import (
    POINT,
    Array,
    Bools,
    Floats,
    Ints,
    MetricChunk,
    MetricPage,
    MetricSeries,
    RunView,
    load_limits,
    load_run_views,
    select_at,
)
from arcadia_backend.metrics.reading import (
    NO_CURVE,
    Axis,
    Curve,
    Opened,
    Points,
    RunMetrics,
    SeriesPoints,
    Sparkline,
    at_attempt,
    bins_around,
    find_shared_series,
    read_points,
    read_summaries,
    to_curve,
    unpack_summaries,
    visible_summaries,
)

FRAMES_PER_EPOCH = 4_000_000


@dataclass(frozen=True)
class Window:
    """The part of a series to read, and its resolution."""

    axis: Axis
    low: float = -np.inf
    high: float = np.inf
    buckets: int = 500
    log: bool = False


class VisibleSeries(NamedTuple):
    """A series and which of its points are visible. The first `skip` points that were stored are left out."""

    series: MetricSeries
    view: RunView
    skip: int = 0


def read_curve(session: Session, series: MetricSeries, view: RunView, window: Window) -> Curve:
    """Return the part of a series within the window."""
    [curve] = read_curves(session, [VisibleSeries(series, view)], window)
    return curve


def read_curves(session: Session, every: Sequence[VisibleSeries], window: Window) -> list[Curve]:
    """Return the part of each series within the window. Hundreds of series take few queries."""
    summaries = read_summaries(session, [each.series for each in every])
    parts = [_find_part(seen, some, window) for seen, some in zip(every, summaries, strict=True)]
    opened = (Opened(part.seen.series, part.summaries, np.flatnonzero(part.opened)) for part in parts)
    return [_merge(part, points, window) for part, points in zip(parts, read_points(session, opened), strict=True)]


@dataclass(frozen=True)
class _Part:
    """The finished chunks inside a window, with their ends on its axis, and which of them must be opened."""

    seen: VisibleSeries
    summaries: Array
    first: Floats
    last: Floats
    inside: Bools
    opened: Bools


def _find_part(seen: VisibleSeries, summaries: Array, window: Window) -> _Part:
    _series, view, skip = seen
    limits = at_attempt(view.limits, summaries["attempt"])
    first, last = (_locate(summaries, end, summaries["attempt"], view, window.axis) for end in ("first_", "last_"))
    stored = np.cumsum(summaries["count"])
    inside = (last >= window.low) & (first <= window.high) & (summaries["first_step"] <= limits) & (stored > skip)
    partly = (first < window.low) | (last > window.high) | (summaries["last_step"] > limits)
    partly |= stored - summaries["count"] < skip

    # Read every point if there are only a few thousand, so that as many as fit are shown unmerged.
    few = summaries["count"][inside].sum() <= 4 * window.buckets
    ends = np.append(first[inside], last[inside])
    bins = bins_around(ends, window.low, window.high, window.buckets, window.log)
    return _Part(seen, summaries, first, last, inside, inside & (partly | few | bins.must_split(first, last)))


def _merge(part: _Part, points: Points, window: Window) -> Curve:
    _series, view, skip = part.seen
    visible = points.records["step"] <= at_attempt(view.limits, points.attempts)
    x = _locate(points.records, "", points.attempts, view, window.axis)
    wanted = visible & (x >= window.low) & (x <= window.high)
    if skip:
        wanted &= points.ordinals(part.summaries["count"]) >= skip
    points, x = points.where(wanted), x[wanted]

    whole = np.flatnonzero(part.inside & ~part.opened)
    if not len(whole):
        points, x = points.in_order(x)
    ends = np.concatenate([part.first[whole], part.last[whole], x])
    bins = bins_around(ends, window.low, window.high, window.buckets, window.log)
    return to_curve(part.summaries, whole, part.last[whole], points, x, bins, window.buckets)


@dataclass(frozen=True)
class Extent:
    """The ends of a series on an axis, and its number of points."""

    low: float
    high: float
    count: int


def read_extents(session: Session, every: Sequence[VisibleSeries], axis: Axis) -> list[Extent]:
    """Return the extent of the visible points of each series."""
    visible = visible_summaries(session, [each.series for each in every], [each.view.limits for each in every])
    return [_extent(summaries, seen.view, axis) for summaries, seen in zip(visible, every, strict=True)]


def _extent(summaries: Array, view: RunView, axis: Axis) -> Extent:
    if not len(summaries):
        return Extent(0.0, 0.0, 0)
    first, last = (_locate(summaries, end, summaries["attempt"], view, axis) for end in ("first_", "last_"))
    return Extent(float(first.min()), float(last.max()), int(summaries["count"].sum()))


def _locate(records: Array, end: str, attempts: Ints, view: RunView, axis: Axis) -> Floats:
    """Return the x of points, or with `first_` or `last_` the x of that end of summaries."""
    if axis == "time":
        x = records[f"{end}time"] - at_attempt(view.shifts, attempts)
    elif axis == "epoch":
        x = records[f"{end}frames"] / FRAMES_PER_EPOCH
    else:
        x = records[f"{end}{axis}"]
    return np.asarray(x, np.float64)


BINS = 32
# A series with fewer finished chunks is read point by point. Its summaries would be too coarse.
FEW_CHUNKS = 8


def read_sparklines(session: Session, run_ids: Sequence[int], metric: str) -> list[Sparkline]:
    """Return the means of a metric in up to 32 parts of equal length, for each run that has reported it."""
    series = list(find_shared_series(session, run_ids, metric).values())
    limits = load_limits(session, [each.run_id for each in series])
    wanted = [each.id for each in series if each.chunks > FEW_CHUNKS]
    pages = select(MetricPage.series_id, MetricPage.data).where(MetricPage.series_id.in_(wanted))
    summaries: dict[int, list[bytes]] = {}
    for series_id, data in session.execute(pages.order_by(MetricPage.series_id, MetricPage.number)):
        summaries.setdefault(series_id, []).append(data)
    chunks = _read_chunks(session, series)
    lines = []
    for each in series:
        parts = _parts(each, summaries.get(each.id, []), chunks.get(each.id, []), limits[each.run_id])
        if len(parts[0]):
            lines.append(Sparkline(run_id=each.run_id, values=_means(*parts)))
    return lines


def _read_chunks(session: Session, series: Sequence[MetricSeries]) -> Mapping[int, list[tuple[int, bytes]]]:
    """Return all chunks of the short series, and the unfinished last chunk of the others."""
    short = [each.id for each in series if each.chunks <= FEW_CHUNKS]
    last = [(each.id, each.chunks - 1) for each in series if each.chunks > FEW_CHUNKS and each.tail]
    of_short = select(MetricChunk).where(MetricChunk.series_id.in_(short))
    chunks: dict[int, list[tuple[int, bytes]]] = {}
    for query in (of_short, *([select_at(MetricChunk, last)] if last else [])):
        for chunk in session.scalars(query.order_by(MetricChunk.series_id, MetricChunk.number)):
            chunks.setdefault(chunk.series_id, []).append((chunk.attempt, chunk.data))
    return chunks


def _parts(
    series: MetricSeries, pages: Sequence[bytes], chunks: Sequence[tuple[int, bytes]], limits: Ints
) -> tuple[Ints, Floats, Ints]:
    """Return the last step, the sum and the count of each visible summary or point."""
    summaries = unpack_summaries(series, pages)
    summaries = summaries[summaries["last_step"] <= at_attempt(limits, summaries["attempt"])]
    steps, sums, counts = [summaries["last_step"]], [summaries["sum"]], [summaries["count"]]
    for attempt, data in chunks:
        points: Array = np.frombuffer(data, POINT)
        points = points[points["step"] <= at_attempt(limits, attempt)]
        steps.append(points["step"])
        sums.append(points["value"])
        counts.append(np.ones(len(points), np.int64))
    return np.concatenate(steps), np.concatenate(sums), np.concatenate(counts)


def _means(steps: Ints, sums: Floats, counts: Ints) -> list[float | None]:
    """Return the mean of each part, or null where a part has no finite value. Superseded ends are left out."""
    finite = np.isfinite(sums)
    # A script may evaluate its agent at step -1, before the training.
    first = min(0, int(steps.min()))
    last = max(first + 1, int(steps.max()))
    bins = np.minimum((steps[finite] - first) * BINS // (last - first), BINS - 1)
    total = np.bincount(bins, weights=sums[finite], minlength=BINS)
    number = np.bincount(bins, weights=counts[finite], minlength=BINS)
    return [float(part / count) if count else None for part, count in zip(total, number, strict=True)]


MAX_NAMES = 50
# Runs in these states may still report a metric, so a missing one is empty rather than unknown.
UNFINISHED = ("queued", "starting", "running", "paused")
# The run's latest started attempt, then the number of stored points of each series.
CURSOR = re.compile(r"(\d{1,9})((?:-\d{1,18}\.\d{1,18})*)")


class UnknownMetric(NotFound):
    """A metric that the run has not reported."""

    kind = "unknown-metric"
    title = "No such metric"


def metric_names(session: Session, run_id: int) -> list[str]:
    """Return the names of the run's metrics in order."""
    names = select(MetricSeries.name).where(MetricSeries.run_id == run_id).order_by(MetricSeries.name)
    return list(session.scalars(names))


def all_metric_names(session: Session) -> list[str]:
    """Return the names of the metrics of all runs in order."""
    return list(session.scalars(select(MetricSeries.name).distinct().order_by(MetricSeries.name)))


def run_metrics(session: Session, run: Run, names: Sequence[str], window: Window, after: str | None) -> RunMetrics:
    """Return the named series, or all of them.

    With a cursor, return only points stored since, unless a resumed attempt has superseded earlier points.
    """
    attempt_read, points_read = _parse_cursor(after)
    query = select(MetricSeries).where(MetricSeries.run_id == run.id).order_by(MetricSeries.name)
    every = {series.name: series for series in session.scalars(query)}
    missing = [name for name in names if name not in every]
    if missing and run.state not in UNFINISHED:
        has = f"; it has: {', '.join(every)}" if every else " or any other metric"
        raise UnknownMetric(f"Run {run.id} has not reported {', '.join(missing)[:500]}{has}.")
    wanted = [every[name] for name in (names or list(every)[:MAX_NAMES]) if name in every]
    view = load_run_views(session, [run.id])[run.id]
    attempt = len(view.limits) - 1
    skips = points_read if attempt_read == attempt else {}
    seen = [VisibleSeries(series, view, skips.get(series.id, 0)) for series in wanted]
    curves = dict(zip([series.name for series in wanted], read_curves(session, seen, window), strict=True))
    return RunMetrics(
        run_id=run.id,
        x=window.axis,
        cursor=f"{attempt}" + "".join(f"-{series.id}.{series.stored}" for series in wanted),
        complete=not skips and all(curve.raw for curve in curves.values()),
        continues=bool(skips),
        series={name: _to_schema(curves.get(name, NO_CURVE)) for name in names or curves},
    )


def _parse_cursor(cursor: str | None) -> tuple[int | None, dict[int, int]]:
    """Return the attempt of a cursor, and by series the number of points that the client has."""
    if cursor is None:
        return None, {}
    parts = CURSOR.fullmatch(cursor)
    if parts is None:
        raise Invalid(FieldError(field="after", message="not a cursor: send the one from the last response"))
    pairs = (pair.split(".") for pair in parts[2].split("-")[1:])
    return int(parts[1]), {int(series): int(stored) for series, stored in pairs}


def _to_schema(curve: Curve) -> SeriesPoints:
    return SeriesPoints(
        resolution="raw" if curve.raw else "buckets",
        total=curve.total,
        x=curve.x.tolist(),
        mean=curve.mean.tolist(),
        min=curve.min.tolist(),
        max=curve.max.tolist(),
        last=curve.last.tolist(),
        count=curve.count.tolist(),
    )

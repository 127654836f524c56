"""Curves of a series for a chart: on one of four axes, within a window, in a limited number of buckets."""

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from backend.metrics.buckets import Curve, bins_around, to_curve
from backend.metrics.models import MetricSeries
from backend.metrics.points import Array, Floats, Ints
from backend.metrics.reading import at_attempt, read_points, read_summaries, visible_summaries
from backend.metrics.schemas import Axis
from backend.metrics.visibility import RunView

FRAMES_PER_EPOCH = 4_000_000


@dataclass(frozen=True)
class Window:
    """The part of a series to read, and its resolution."""

    axis: Axis
    low: float = -np.inf
    high: float = np.inf
    buckets: int = 500
    log: bool = False


def read_curve(session: Session, series: MetricSeries, view: RunView, window: Window, skip: int = 0) -> Curve:
    """Return the series within the window, without the first `skip` points that were stored."""
    summaries = read_summaries(session, series)
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
    opened = inside & (partly | few | bins.must_split(first, last))

    points = read_points(session, series, summaries, np.flatnonzero(opened))
    visible = points.records["step"] <= at_attempt(view.limits, points.attempts)
    x = _locate(points.records, "", points.attempts, view, window.axis)
    wanted = visible & (x >= window.low) & (x <= window.high)
    if skip:
        wanted &= points.ordinals(summaries["count"]) >= skip
    points, x = points.where(wanted), x[wanted]

    whole = np.flatnonzero(inside & ~opened)
    if not len(whole):
        points, x = points.in_order(x)
    ends = np.concatenate([first[whole], last[whole], x])
    bins = bins_around(ends, window.low, window.high, window.buckets, window.log)
    return to_curve(summaries, whole, last[whole], points, x, bins, window.buckets)


@dataclass(frozen=True)
class Extent:
    """The ends of a series on an axis, and its number of points."""

    low: float
    high: float
    count: int


def read_extent(session: Session, series: MetricSeries, view: RunView, axis: Axis) -> Extent:
    """Return the extent of the visible points of a series."""
    summaries = visible_summaries(session, series, view.limits)
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

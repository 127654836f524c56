"""Smoothing by distance on the x axis: the same line in every zoom, however finely the points are put together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from backend.metrics.buckets import NOTHING, Curve, round_width
from backend.metrics.curves import Extent, RunView, Window, extent, read_curve
from backend.metrics.models import MetricSeries
from backend.metrics.points import Floats

# The past counts for `weight` less with every such part of the longest series in the figure.
PARTS = 400
# What counts for less than this is not read.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class Smoothing:
    """How much less the past counts per unit of x, and the points before the part that is shown."""

    weight: float = 0.0
    unit: float = 1.0
    before: Curve = NOTHING


UNSMOOTHED = Smoothing()


def smoothed(curve: Curve, smoothing: Smoothing) -> Floats:
    """Moving average in which each point counts alike when it is new; NaN and infinity stay where they are.

    It is a sum of points over a sum of their weights, so it does not lean towards zero at its start.
    """
    result = np.array(curve.mean, np.float64)
    if not smoothing.weight:
        return result
    total, weight, last = 0.0, 0.0, -math.inf
    for part in (smoothing.before, curve):
        for index, (x, mean, count) in enumerate(zip(part.x.tolist(), part.mean, part.count, strict=True)):
            if not math.isfinite(mean):
                continue
            kept = smoothing.weight ** (max(0.0, x - last) / smoothing.unit)
            total, weight, last = kept * total + count * mean, kept * weight + count, x
            if part is curve:
                result[index] = total / weight
    return result


def smoothings(
    session: Session, every: Sequence[MetricSeries], views: Mapping[int, RunView], weight: float, window: Window
) -> list[Smoothing]:
    """How to smooth each series of a figure; they share a unit, but for those whose points stand further apart."""
    if not weight:
        return [UNSMOOTHED] * len(every)
    extents = [extent(session, series, views[series.run_id], window.axis) for series in every]
    shared = max((each.span for each in extents), default=0.0) / PARTS
    units = [_unit(each, shared) for each in extents]
    return [
        Smoothing(weight, unit, _before(session, series, views[series.run_id], window, _reach(weight, unit), each))
        for series, unit, each in zip(every, units, extents, strict=True)
    ]


def _unit(each: Extent, shared: float) -> float:
    apart = each.span / (each.count - 1) if each.count > 1 else 0.0
    return round_width(max(shared, apart)) or 1.0


def _reach(weight: float, unit: float) -> float:
    return unit * math.log(NEGLIGIBLE) / math.log(weight)


def _before(session: Session, series: MetricSeries, seen: RunView, window: Window, reach: float, each: Extent) -> Curve:
    """What the average at the left edge of a zoom remembers."""
    if window.low <= each.low:
        return NOTHING
    part = Window(window.axis, window.low - reach, math.nextafter(window.low, -math.inf), PARTS)
    return read_curve(session, series, seen, part)

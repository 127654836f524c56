"""Curves with their smoothing. It works by distance on the x axis, so that a line looks the same at every zoom."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from backend.metrics.buckets import NO_CURVE, Curve, round_width
from backend.metrics.curves import Extent, Window, read_curve, read_extent
from backend.metrics.models import MetricSeries
from backend.metrics.points import Floats
from backend.metrics.visibility import RunView, load_run_views

# The weight of the past is multiplied by `weight` over each such part of the figure's longest series.
PARTS = 400
# Points with a smaller weight than this are not read.
NEGLIGIBLE_WEIGHT = 1e-3


@dataclass(frozen=True)
class Smoothing:
    """The decay of the past per unit of x, and the points before the visible part."""

    weight: float = 0.0
    unit: float = 1.0
    before: Curve = NO_CURVE


UNSMOOTHED = Smoothing()


def smooth(curve: Curve, smoothing: Smoothing) -> Floats:
    """Return the moving average of a curve. NaN and infinities stay in place and do not spread.

    Dividing the weighted sum by the sum of the weights avoids a bias toward zero at the start.
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


def read_smoothed_curves(
    session: Session, every: Sequence[MetricSeries], window: Window, weight: float
) -> list[tuple[Curve, Smoothing]]:
    """Return the curve of each series within the window, and how to smooth it.

    All series share a unit, except those whose points are farther apart.
    """
    views = load_run_views(session, [*{series.run_id for series in every}])
    how = [UNSMOOTHED] * len(every)
    if weight:
        extents = [read_extent(session, series, views[series.run_id], window.axis) for series in every]
        spans = [max(0.0, each.high - each.low) for each in extents]
        units = [_unit(span, each.count, max(spans) / PARTS) for span, each in zip(spans, extents, strict=True)]
        how = [
            Smoothing(weight, unit, _read_before(session, series, views[series.run_id], window, unit, weight, each))
            for series, unit, each in zip(every, units, extents, strict=True)
        ]
    curves = [read_curve(session, series, views[series.run_id], window) for series in every]
    return list(zip(curves, how, strict=True))


def _unit(span: float, count: int, shared: float) -> float:
    apart = span / (count - 1) if count > 1 else 0.0
    return round_width(max(shared, apart)) or 1.0


def _read_before(
    session: Session, series: MetricSeries, view: RunView, window: Window, unit: float, weight: float, extent: Extent
) -> Curve:
    """Return the points before a zoom that still affect the average at its left edge."""
    if window.low <= extent.low:
        return NO_CURVE
    reach = unit * math.log(NEGLIGIBLE_WEIGHT) / math.log(weight)
    before = Window(window.axis, window.low - reach, math.nextafter(window.low, -math.inf), PARTS)
    return read_curve(session, series, view, before)

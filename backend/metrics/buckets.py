"""From points and summaries to as many buckets as a chart can show; pure arithmetic."""

import math
from dataclasses import dataclass

import numpy as np

from backend.metrics.points import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Bins:
    """Equal parts of the x axis, of equal ratio when it is logarithmic.

    Borders are multiples of the width, so that they stay where they are while the axis grows.
    """

    first: int
    width: float
    number: int
    log: bool = False

    @property
    def borders(self) -> Floats:
        """Where the bins begin, and where the last one ends."""
        scaled = np.arange(self.first, self.first + self.number + 1) * self.width
        return np.asarray(np.exp(scaled) if self.log else scaled, np.float64)

    def of(self, x: Floats) -> Ints:
        """The bin that each x falls into."""
        bins = np.floor(_scaled(x, self.log) / self.width) - self.first
        return np.asarray(np.clip(bins, 0, self.number - 1), np.int64)

    def torn(self, first: Floats, last: Floats) -> Bools:
        """Which spans lie in several bins and are not small beside one, so that they cannot be counted as a whole."""
        wide = _scaled(last, self.log) - _scaled(first, self.log) > self.width / 4
        return np.asarray(wide & (self.of(first) != self.of(last)))


def bins_over(low: float, high: float, most: int, log: bool = False) -> Bins:
    """The narrowest bins of which no more than `most` reach from low to high."""
    low, high = _scaled(np.array([low, high]), log).tolist()
    span = high - low
    if not 0 < span < math.inf:
        return Bins(math.floor(low) if math.isfinite(low) else 0, 1.0, 1, log)
    width = round_width(span / most)
    while (number := math.floor(high / width) - math.floor(low / width) + 1) > most and width <= span:
        width = round_width(math.nextafter(width, math.inf))
    return Bins(math.floor(low / width), width, min(number, most), log)


def round_width(least: float) -> float:
    """The smallest of 4, 5, 6, 7 or 8 eighths of a power of two that is no less: it changes at every fifth or so."""
    mantissa, exponent = math.frexp(least)
    return math.ldexp(math.ceil(mantissa * 8) / 8, exponent)


def _scaled(x: Floats, log: bool) -> Floats:
    # Step 0 has no logarithm; it is drawn at the edge, so it belongs to the first bin.
    return np.log(np.maximum(x, 1e-9)) if log else x


@dataclass(frozen=True)
class Curve:
    """What is drawn of a series: each place tells of a run of points on end, and all places together of every point."""

    raw: bool
    total: int
    x: Floats
    mean: Floats
    min: Floats
    max: Floats
    last: Floats
    count: Ints


_NONE = np.empty(0)
NOTHING = Curve(True, 0, _NONE, _NONE, _NONE, _NONE, _NONE, np.empty(0, np.int64))


def as_curve(summaries: Array, x: Floats, bins: Bins, most: int) -> Curve:
    """Every point as it is if there are at most `most`, else the points of each bin; `x` is of the last points."""
    if not len(summaries):
        return NOTHING
    total = int(summaries["count"].sum())
    if total <= most and total == len(summaries):
        starts = np.arange(total)
    else:
        # A clock that was set back must not tear a bucket in two.
        starts = np.flatnonzero(np.diff(np.maximum.accumulate(bins.of(x)), prepend=-1))
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

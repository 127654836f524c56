"""Reduction of points and summaries to the buckets of a chart. Pure arithmetic, without the database."""

import math
from dataclasses import dataclass

import numpy as np

from backend.metrics.points import Array, Bools, Floats, Ints, summarize


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

"""From points and summaries to as many buckets as a chart can show; pure arithmetic."""

from dataclasses import dataclass

import numpy as np

from backend.metrics.points import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Bins:
    """A range of the x axis cut into equal parts, of equal ratio when the axis is logarithmic."""

    low: float
    high: float
    number: int
    log: bool = False

    def of(self, x: Floats) -> Ints:
        """The bin that each x falls into."""
        return np.asarray(np.clip(self._place(x), 0, self.number - 1), np.int64)

    def torn(self, first: Floats, last: Floats) -> Bools:
        """Which spans lie in several bins and are not small beside one, so that they cannot be counted as a whole."""
        wide = self._place(last) - self._place(first) > 0.25
        return np.asarray(wide & (self.of(first) != self.of(last)))

    def _place(self, x: Floats) -> Floats:
        low, high = self._scale(np.array([self.low, self.high]))
        if not high > low:
            return np.zeros(len(x))
        return np.asarray((self._scale(x) - low) / (high - low) * self.number)

    def _scale(self, x: Floats) -> Floats:
        # Step 0 has no logarithm; it is drawn at the edge, so it belongs to the first bin.
        return np.log(np.maximum(x, 1e-9)) if self.log else x


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


def as_curve(summaries: Array, x: Floats, bins: Bins) -> Curve:
    """Every point as it is if there are few enough, else the points of each bin together; `x` is of the last points."""
    if not len(summaries):
        return NOTHING
    total = int(summaries["count"].sum())
    if total <= bins.number and total == len(summaries):
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

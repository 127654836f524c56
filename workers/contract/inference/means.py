"""Student's intervals of means and their differences, also of values that are related inside clusters."""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

HIGH = 0.975
# A mean of fewer runs has no interval, because it would cover less than 90 % if returns are not normal.
MIN_RUNS = 3


@cache
def student_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's t-distribution. With t = √ν tan θ, its density is cos^(ν-1) θ."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, 40_001)
    density = np.maximum(np.cos(angles), 0.0) ** (degrees - 1)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    angle = np.interp(probability, below / below[-1], angles)
    return float(math.sqrt(degrees) * np.tan(angle))


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % t-interval of a mean, or None for too few values (Student 1908)."""
    if len(values) < MIN_RUNS:
        return None
    mean = float(np.mean(values))
    half = student_quantile(HIGH, len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return mean - half, mean + half


@cache
def share_interval(count: int, of: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a probability, from the number of times that it came true (Clopper 1934)."""
    counts = np.arange(of + 1)
    ways = math.lgamma(of + 1) - np.array([math.lgamma(n + 1) + math.lgamma(of - n + 1) for n in counts])

    def boundary(is_beyond: Callable[[Floats], bool]) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            chances = np.exp(ways + counts * math.log(middle) + (of - counts) * math.log1p(-middle))
            low, high = (low, middle) if is_beyond(chances) else (middle, high)
        return high

    low = boundary(lambda chances: chances[count:].sum() >= 1 - HIGH) if count else 0.0
    high = boundary(lambda chances: chances[: count + 1].sum() < 1 - HIGH) if count < of else 1.0
    return low, high


class MeanError(NamedTuple):
    """The standard error of a mean, and its 95 % interval."""

    standard_error: float
    interval: tuple[float, float]


def clustered_mean_error(values: Sequence[float], clusters: Sequence[Hashable]) -> MeanError | None:
    """Return the error of a mean whose values are equal or related inside clusters, or None for a single cluster.

    The variance is that of the sums of clusters around the mean (Cameron, Miller 2015, section II), with Student's t
    for the number of clusters. If each value is a cluster, this is the usual interval.
    """
    names = list(dict.fromkeys(clusters))
    if len(names) < 2:
        return None
    of = np.asarray(values, dtype=np.float64)
    mean = float(of.mean())
    places = {name: place for place, name in enumerate(names)}
    sums = np.bincount([places[cluster] for cluster in clusters], of - mean, len(names))
    error = math.sqrt(len(names) / (len(names) - 1) * float((sums**2).sum())) / len(of)
    half = student_quantile(HIGH, len(names) - 1) * error
    return MeanError(error, (mean - half, mean + half))


def jackknife_interval(
    statistic: Callable[[Ints], float | None], clusters: Sequence[Hashable]
) -> tuple[float, float] | None:
    """Return the 95 % interval of a statistic of related values. None for a single cluster, or where it is undefined.

    The statistic takes the indices of the values to use. One cluster at a time is left out (Efron, Stein 1981), and
    Student's t is for the number of clusters.
    """
    names = list(dict.fromkeys(clusters))
    if len(names) < 2:
        return None
    every = np.arange(len(clusters))
    value = statistic(every)
    found = [statistic(every[[cluster != name for cluster in clusters]]) for name in names]
    known = [each for each in found if each is not None and math.isfinite(each)]
    if value is None or len(known) < len(names):
        return None
    half = student_quantile(HIGH, len(names) - 1) * math.sqrt((len(names) - 1) * float(np.var(known)))
    return value - half, value + half


def standard_errors_apart(higher: Floats, lower: Floats) -> float:
    """Return the difference of two means in standard errors, as in Welch's test. Each has two values or more."""
    error = math.sqrt(float(higher.var(ddof=1)) / len(higher) + float(lower.var(ddof=1)) / len(lower))
    difference = float(higher.mean() - lower.mean())
    return difference / error if error else math.copysign(math.inf, difference) if difference else 0.0


class MeanDifference(NamedTuple):
    """A difference of means with its 95 % interval."""

    mean: float
    low: float
    high: float


def welch(one: Floats, other: Floats, comparisons: int = 1) -> MeanDifference:
    """Return the difference of two means with Welch's t-interval, which allows unequal variances (Welch 1947).

    Colas et al. 2019 (arXiv:1904.06979) recommend it for few seeds, where a bootstrap interval is too narrow. With
    several comparisons, all of their intervals together are right with 95 % (Bonferroni).
    """
    difference = float(one.mean() - other.mean())
    errors = [float(scores.var(ddof=1)) / len(scores) for scores in (one, other)]
    if not sum(errors):
        return MeanDifference(difference, difference, difference)
    # Welch-Satterthwaite equation. Use shares of the sum, because the square of a large variance can overflow.
    shares = [error / sum(errors) for error in errors]
    degrees = 1 / sum(share**2 / (len(scores) - 1) for share, scores in zip(shares, (one, other), strict=True))
    half = student_quantile(1 - (1 - HIGH) / comparisons, degrees) * math.sqrt(sum(errors))
    return MeanDifference(difference, difference - half, difference + half)


def best_against_others(groups: Sequence[Floats]) -> list[MeanDifference]:
    """Return the difference of the best mean to each other one, in their order. Each group has two scores or more.

    The best group is found by comparing all groups with each other, so the intervals of all pairs are right together.
    """
    best = max(groups, key=lambda scores: float(scores.mean()))
    return [welch(best, other, math.comb(len(groups), 2)) for other in groups if other is not best]

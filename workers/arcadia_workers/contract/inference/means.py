"""Student's and Welch's intervals of means and differences, also inside clusters, and tests of ranks."""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

HIGH = 0.975
# A mean of fewer runs has no interval, because it would cover less than 90 % if returns are not normal.
MIN_RUNS = 3
# With fewer clusters their variance is unknown.
MIN_CLUSTERS = 5


@cache
def student_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's t-distribution. With t = √ν tan θ, its density is cos^(ν-1) θ."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, 40_001)
    density = np.maximum(np.cos(angles), 0.0) ** (degrees - 1)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    angle = np.interp(probability, below / below[-1], angles)
    return float(math.sqrt(degrees) * np.tan(angle))


class Bounds(NamedTuple):
    """The lowest and the highest possible value. An unknown one is infinite."""

    low: float = -math.inf
    high: float = math.inf

    def fit(self, values: Floats) -> "Bounds":
        """Return these bounds, or none if a value is outside of them, because the environment is then another one."""
        slack = 1e-6 * (self.high - self.low) if math.isfinite(self.high - self.low) else 1e-6
        inside = np.all((values >= self.low - slack) & (values <= self.high + slack))
        return self if inside else UNBOUNDED

    def clip(self, low: float, high: float) -> tuple[float, float]:
        """Return the ends of an interval without the impossible part."""
        return max(low, self.low), min(high, self.high)


UNBOUNDED = Bounds()
# If most values are equal, an interval needs this many others. With fewer, it covers less than 90 %.
MIN_OTHERS = 5
# A few scores near a bound are skewed: within this share of the range and this many standard deviations.
NEAR_BOUND, NEAR_DEVIATIONS = 0.05, 5
# From this many values on, a mean near a bound is normal enough.
MANY = 30


def has_t_interval(values: Floats, bounds: Bounds = UNBOUNDED) -> Flags:
    """Return whether a t-interval of the values on the first axis is shown, for each place on the other axes.

    Simulations choose the rule. See docs/inference.md.
    """
    count = len(values)
    if count < MIN_RUNS:
        return np.zeros(values.shape[1:], dtype=bool)
    near = np.any([_near(values, bound, bounds) for bound in bounds], axis=(0, 1))
    return np.asarray(differ_enough(values) & ~near)


def differ_enough(values: Floats) -> Flags:
    """Return False where most values on the first axis are equal, and too few differ from them."""
    others = len(values) - _count_equal(values)
    return np.asarray((others >= MIN_OTHERS) | (2 * others >= len(values)))


def _count_equal(values: Floats) -> Ints:
    """Return how many values equal the middle one. If most values are equal, it is one of them."""
    return np.asarray((values == np.sort(values, axis=0)[len(values) // 2]).sum(axis=0))


def _near(values: Floats, bound: float, bounds: Bounds) -> Flags:
    """Return which of a few values are near one of the bounds, if their mean is too."""
    width = bounds.high - bounds.low
    margin = NEAR_BOUND * width if math.isfinite(width) else 0.0
    if len(values) >= MANY or not math.isfinite(bound):
        return np.zeros(values.shape, dtype=bool)
    is_close = np.abs(values.mean(axis=0) - bound) <= NEAR_DEVIATIONS * values.std(axis=0, ddof=1)
    return np.asarray((np.abs(values - bound) <= margin) & is_close)


def why_no_interval(values: Sequence[float], bounds: Bounds = UNBOUNDED) -> str:
    """Return why the mean of the scores of runs has no t-interval, as a sentence. Empty if it has one."""
    scores = np.asarray(values, dtype=np.float64)
    bounds = bounds.fit(scores)
    count = len(scores)
    if has_t_interval(scores, bounds):
        return ""
    if count < MIN_RUNS:
        return f"An interval needs {MIN_RUNS} runs."
    named = {bounds.low: "the lowest possible score", bounds.high: "the highest possible score"}
    equal, middle = int(_count_equal(scores)), float(np.sort(scores)[count // 2])
    if not differ_enough(scores):
        how_many = f"All {count}" if equal == count else f"{equal} of {count}"
        extreme = f", {named[middle]}" if middle in named else ""
        return f"{how_many} runs score {middle:,.6g}{extreme}."
    near, bound = max((int(_near(scores, bound, bounds).sum()), bound) for bound in bounds)
    return f"{near} of {count} runs {'is' if near == 1 else 'are'} near {named[bound]}, {bound:,.6g}."


def t_interval(values: Sequence[float], bounds: Bounds = UNBOUNDED) -> tuple[float, float] | None:
    """Return the 95 % t-interval of a mean (Student 1908), or None where `has_t_interval` shows none."""
    scores = np.asarray(values, dtype=np.float64)
    bounds = bounds.fit(scores)
    if not has_t_interval(scores, bounds):
        return None
    mean = float(scores.mean())
    half = student_quantile(HIGH, len(scores) - 1) * float(scores.std(ddof=1)) / math.sqrt(len(scores))
    return bounds.clip(mean - half, mean + half)


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


def clustered_share_interval(clusters: Sequence[tuple[int, int]]) -> tuple[float, float] | None:
    """Return the 95 % interval of a share (Wilson 1927) from the cases and the successes of each cluster.

    Cases of a cluster may be alike. The variance between clusters says how many independent cases all of them are
    worth. If all cases agree, each cluster counts once. The quantile is Student's for the number of clusters. None
    below MIN_CLUSTERS.
    """
    if len(clusters) < MIN_CLUSTERS:
        return None
    count, hits = (sum(each) for each in zip(*clusters, strict=True))
    share, worth = hits / count, float(len(clusters))
    if 0 < hits < count:
        between = sum((came_true - share * cases) ** 2 for cases, came_true in clusters)
        between *= len(clusters) / (len(clusters) - 1)
        worth = count / max(1.0, between / (count * share * (1 - share)))
    squared = student_quantile(HIGH, len(clusters) - 1) ** 2
    middle = (share + squared / (2 * worth)) / (1 + squared / worth)
    half = math.sqrt(squared * (share * (1 - share) / worth + squared / (4 * worth**2))) / (1 + squared / worth)
    return max(0.0, middle - half), min(1.0, middle + half)


class MeanError(NamedTuple):
    """The standard error of a mean, and the ends of its 95 % interval."""

    standard_error: float
    ends: tuple[float, float]
    differs_enough: bool

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the interval that is shown. None if most values are equal, and too few differ from them."""
        return self.ends if self.differs_enough else None


def clustered_mean_error(values: Sequence[float], clusters: Sequence[Hashable]) -> MeanError | None:
    """Return the error of a mean whose values are equal or related inside clusters.

    None for a single cluster, and if all values are equal.

    The variance is that of the sums of clusters around the mean (Cameron, Miller 2015, section II), with Student's t
    for the number of clusters. If each value is a cluster, this is the usual interval.
    """
    names = list(dict.fromkeys(clusters))
    if len(names) < 2:
        return None
    of = np.asarray(values, dtype=np.float64)
    if not np.ptp(of):
        return None
    mean = float(of.mean())
    places = {name: place for place, name in enumerate(names)}
    sums = np.bincount([places[cluster] for cluster in clusters], of - mean, len(names))
    error = math.sqrt(len(names) / (len(names) - 1) * float((sums**2).sum())) / len(of)
    half = student_quantile(HIGH, len(names) - 1) * error
    return MeanError(error, (mean - half, mean + half), bool(differ_enough(of)))


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
    estimates = [statistic(every[[cluster != name for cluster in clusters]]) for name in names]
    known = [each for each in estimates if each is not None and math.isfinite(each)]
    if value is None or len(known) < len(names):
        return None
    half = student_quantile(HIGH, len(names) - 1) * math.sqrt((len(names) - 1) * float(np.var(known)))
    if not half:
        return None
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


def welch(one: Floats, other: Floats, comparisons: int = 1) -> MeanDifference | None:
    """Return the difference of two means with Welch's t-interval, which allows unequal variances (Welch 1947).

    None if the scores of both are equal, because then they do not show how much scores vary. Colas et al. 2019
    (arXiv:1904.06979) recommend it for few seeds, where a bootstrap interval is too narrow. With several comparisons,
    all of their intervals together are right with 95 % (Bonferroni).
    """
    errors = [float(scores.var(ddof=1)) / len(scores) for scores in (one, other)]
    if not sum(errors):
        return None
    # Welch-Satterthwaite equation. Use shares of the sum, because the square of a large variance can overflow.
    shares = [error / sum(errors) for error in errors]
    degrees = 1 / sum(share**2 / (len(scores) - 1) for share, scores in zip(shares, (one, other), strict=True))
    half = student_quantile(1 - (1 - HIGH) / comparisons, degrees) * math.sqrt(sum(errors))
    difference = float(one.mean() - other.mean())
    return MeanDifference(difference, difference - half, difference + half)


def best_against_others(groups: Sequence[Floats]) -> list[MeanDifference | None]:
    """Return the difference of the best mean to each other one, in their order. Each group has two scores or more.

    The best group is found by comparing all groups with each other, so the intervals of all pairs are right together.
    Each is Welch's, or the one with the pooled variance of all groups if that is wider. Otherwise, if some runs fail
    silently, a group of three in which all succeed and one in which all fail would look certain, although the other
    groups show how much runs vary.
    """
    best = max(groups, key=lambda scores: float(scores.mean()))
    pairs = math.comb(len(groups), 2)
    degrees = sum(len(scores) - 1 for scores in groups)
    variance = sum(float(scores.var()) * len(scores) for scores in groups) / degrees
    quantile = student_quantile(1 - (1 - HIGH) / pairs, degrees) if pairs else math.nan
    found: list[MeanDifference | None] = []
    for other in groups:
        if other is best:
            continue
        by_welch = welch(best, other, pairs)
        half = quantile * math.sqrt(variance * (1 / len(best) + 1 / len(other)))
        if by_welch is None and not half:
            found.append(None)
            continue
        mean = float(best.mean() - other.mean())
        half = max(half, by_welch.high - mean if by_welch else 0.0)
        found.append(MeanDifference(mean, mean - half, mean + half))
    return found


ALPHA = 0.05
# A better run beats a worse one with probability 3/4 or 8/9. The first detects small differences, the second decides
# large ones with few seeds. See docs/results/seeds-until-certain.md for the alternatives.
WEIGHTS = (3.0, 8.0)
# An e-value of either group at this level decides a pair, because two hypotheses are tested.
PAIR_THRESHOLD = 2 / ALPHA
# A gap between parts of a series counts as a jump from this many standard errors of its usual changes.
LARGE_GAP = 3.0
# Larger e-values are reported as this one.
MAX_LOG_E = math.log(1e12)


def e_values(better: Floats, worse: Floats) -> Floats:
    """Return the evidence that `better` scores higher than `worse`. Runs are on the last axis, NaN is no run.

    Equal scores count against the claim.
    """
    shape = np.broadcast_shapes(better.shape[:-1], worse.shape[:-1])
    better, worse = (np.broadcast_to(each, (*shape, each.shape[-1])) for each in (better, worse))
    scores = np.concatenate([better, worse], axis=-1)
    # Stable, so that of equal scores the better run is first, and NaN comes last.
    order = np.argsort(scores, axis=-1, kind="stable")
    known = np.take_along_axis(np.isfinite(scores), order, axis=-1)
    is_better = known & (order < better.shape[-1])
    is_worse = known & ~is_better
    orders = _log_factorials(scores.shape[-1])[known.sum(axis=-1)]
    # The weights apply to the better runs from the top, or to the worse runs from the bottom.
    ratios = [
        orders + _log_likelihood(heavy, light, weight)
        for weight in WEIGHTS
        for heavy, light in ((is_better, is_worse), (is_worse[..., ::-1], is_better[..., ::-1]))
    ]
    log_e = np.logaddexp.reduce(ratios, axis=0) - math.log(len(ratios))
    return np.asarray(np.exp(np.minimum(log_e, MAX_LOG_E)))


def _log_likelihood(heavy: Flags, light: Flags, weight: float) -> Floats:
    """Return the log-probability of an order in which runs are drawn from the last to the first, by weight."""
    remaining = weight * np.cumsum(heavy, axis=-1) + np.cumsum(light, axis=-1)
    logs = np.log(remaining, out=np.zeros(remaining.shape), where=heavy | light)
    return np.asarray(heavy.sum(axis=-1) * math.log(weight) - logs.sum(axis=-1))


@cache
def _log_factorials(largest: int) -> Floats:
    return np.array([math.lgamma(count + 1) for count in range(largest + 1)])


def rank_sum_z(higher: Floats, lower: Floats) -> float:
    """Return by how many standard deviations the values of one sample rank above those of another (Mann, Whitney 1947).

    Only ranks count, so one lucky value proves nothing.
    """
    one, other = len(higher), len(lower)
    larger = (higher[:, np.newaxis] > lower).sum() + (higher[:, np.newaxis] == lower).sum() / 2
    return float((larger - one * other / 2) / math.sqrt(one * other * (one + other + 1) / 12))


def rank_correlation(parts: Sequence[Floats]) -> float:
    """Return the correlation of successive ranks inside parts of a series, which have the same length.

    It is at least 0, because only a positive one makes a mean less certain than independent values would.
    """
    ranks = np.array([np.argsort(np.argsort(part, kind="stable")) for part in parts], dtype=np.float64)
    ranks -= ranks.mean(axis=1, keepdims=True)
    length = ranks.shape[1]
    correlation = (ranks[:, 1:] * ranks[:, :-1]).sum() / (ranks**2).sum() * length / (length - 1)
    return min(0.99, max(0.0, float(correlation)))


def critical_rank_z(values: Floats, parts: Sequence[Floats], gap: float, chance: float) -> float:
    """Return the `rank_sum_z` that parts of a series exceed by chance with this probability.

    Autocorrelated values make it larger, unless the gap between the parts is far larger than the usual changes inside
    the series.
    """
    level = NormalDist().inv_cdf(1 - chance)
    is_jump = gap > LARGE_GAP * usual_change(values) * math.sqrt(len(parts[0]))
    return level if is_jump else level * error_factor(parts)


def error_factor(parts: Sequence[Floats]) -> float:
    """Return the factor by which autocorrelation inflates the standard error of a mean."""
    correlation = rank_correlation(parts)
    return math.sqrt((1 + correlation) / (1 - correlation))


def rank_trend_z(values: Floats) -> float:
    """Return by how many standard deviations ranks increase over the series (Spearman 1904)."""
    ranks = middle_ranks(values)
    if len(values) < 2 or np.ptp(ranks) == 0:
        return 0.0
    return float(np.corrcoef(np.arange(len(values)), ranks)[0, 1]) * math.sqrt(len(values) - 1)


def middle_ranks(values: Floats) -> Floats:
    """Return the rank of each value. Equal values share the middle of their ranks."""
    ordered = np.sort(values)
    return np.asarray((np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") - 1) / 2)


def middle_mean(values: Floats) -> Floats:
    """Return the mean of the middle half of the values on the last axis, which outliers do not change."""
    count = values.shape[-1]
    return np.asarray(np.sort(values, axis=-1)[..., count // 4 : count - count // 4].mean(axis=-1))


def usual_change(values: Floats) -> float:
    """Return the standard deviation of successive differences. Outliers hardly change it, and a trend does not."""
    changes = np.diff(values)
    return float(np.median(np.abs(changes - np.median(changes)))) / NormalDist().inv_cdf(0.75)

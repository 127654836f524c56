"""Tests of ranks: whether one sample is higher than another, for any distribution.

The e-value of two groups is valid however often it is checked. It is a likelihood ratio of ranks, the rank-order
sequential test of Savage and Sethuraman (1966, Annals of Mathematical Statistics 37). Under the null hypothesis all
runs have the same distribution, so every order of their scores is equally likely. The alternative is the Plackett-Luce
model: a better run has the weight θ, and it beats a worse one with probability θ / (θ + 1). By Ville's inequality the
e-value ever reaches 1/α with probability α at most, for any rule that adds seeds (Ramdas et al. 2023,
arXiv:2210.01948).
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from workers.contract.inference.means import Floats

Flags = npt.NDArray[np.bool_]

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
    found = (ranks[:, 1:] * ranks[:, :-1]).sum() / (ranks**2).sum() * length / (length - 1)
    return min(0.99, max(0.0, float(found)))


def critical_rank_z(values: Floats, parts: Sequence[Floats], gap: float, chance: float) -> float:
    """Return the `rank_sum_z` that parts of a series exceed by chance with this probability.

    Autocorrelated values make it larger, unless the gap between the parts is far larger than the usual changes inside
    the series.
    """
    level = critical_z(chance)
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


def critical_z(chance: float) -> float:
    """Return the number of standard deviations that a normal value exceeds with this probability."""
    return NormalDist().inv_cdf(1 - chance)


def usual_change(values: Floats) -> float:
    """Return the standard deviation of successive differences. Outliers hardly change it, and a trend does not."""
    changes = np.diff(values)
    return float(np.median(np.abs(changes - np.median(changes)))) / NormalDist().inv_cdf(0.75)

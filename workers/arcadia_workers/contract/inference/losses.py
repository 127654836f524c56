"""Whether another action would have been better, from pairs of simulated futures that share their random numbers.

A future's outcome is at most `scale` in magnitude. The loss of an action against another one is the mean difference of
their outcomes. The other action is chosen by a screen of futures that are not used again.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from arcadia_workers.contract.inference.means import ALPHA, HIGH, Floats, clustered_mean_error, student_quantile

# An e-value at this level shows a loss.
DECISIVE = 1 / ALPHA
# Losses up to this share of the scale do not count.
MARGIN = 0.02
# Shares of the capital that are bet. Small ones win slowly with small losses, large ones fast with large losses.
BETS = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])
# Values that a cautious interval adds at each end of the range.
ADDED = 2
MAX_LOG_E = math.log(1e12)


def loss_evidence(differences: Sequence[float], scale: float) -> float:
    """Return the e-value of pairs against the hypothesis that the mean loss is at most the margin.

    It is the capital of a gambler who bets on each pair (Waudby-Smith, Ramdas 2024, arXiv:2010.09686). It ever reaches
    20 with probability 5 % at most, for any distribution and any number of pairs.
    """
    return evidence_of(log_capitals(differences, scale))


def log_capitals(differences: Sequence[float], scale: float) -> Floats:
    """Return the logarithm of the capital after these pairs for each of the BETS. Those of further pairs are added."""
    margin = MARGIN * scale
    gains = (np.asarray(differences, dtype=np.float64) - margin) / (2 * scale + margin)
    return np.asarray(np.log1p(BETS[:, np.newaxis] * gains).sum(axis=1))


def evidence_of(capitals: Floats) -> float:
    """Return the e-value: the mean capital of the bets, from their logarithms."""
    return float(np.exp(min(np.logaddexp.reduce(capitals) - math.log(len(BETS)), MAX_LOG_E)))


def pairs_needed(differences: Sequence[float], scale: float) -> int | None:
    """Return about how many pairs would show a loss if they continued as so far. None if they show none."""
    evidence = loss_evidence(differences, scale)
    if evidence <= 1:
        return None
    return math.ceil(len(differences) * max(1.0, math.log(DECISIVE) / math.log(evidence)))


def bounded_interval(values: Sequence[float], largest: float) -> tuple[float, float]:
    """Return a 95 % interval of the mean of values of at most this magnitude, for any distribution.

    A mean is in the interval if no gambler who bets that the true one is higher, or lower, has won 40 times his capital
    (hedged capital: Waudby-Smith, Ramdas 2024, theorem 3). A t-interval would be too short for rare large losses.
    """
    shares = (np.asarray(values, dtype=np.float64) + largest) / (2 * largest)
    count = np.arange(1, len(shares) + 1)
    means = (0.5 + shares.cumsum()) / (count + 1)
    variances = (0.25 + ((shares - means) ** 2).cumsum()) / (count + 1)
    # A bet depends only on earlier values.
    bets = np.sqrt(2 * math.log(2 / ALPHA) / (len(shares) * np.append(0.25, variances[:-1])))[:, np.newaxis]
    candidates = np.linspace(0, 1, 1_001)[1:-1]
    gains = shares[:, np.newaxis] - candidates
    higher = np.log1p(np.minimum(bets, 0.5 / candidates) * gains).sum(axis=0)
    lower = np.log1p(-np.minimum(bets, 0.5 / (1 - candidates)) * gains).sum(axis=0)
    inside = np.flatnonzero(np.maximum(higher, lower) < math.log(2 / ALPHA))
    # One step further on each side, because the candidates are a grid. No candidate is left only by rounding.
    low, high = (inside[0], inside[-1] + 2) if len(inside) else (0, len(candidates) + 1)
    return largest * (2 * low / 1_000 - 1), largest * (2 * high / 1_000 - 1)


def cautious_interval(values: Sequence[float], largest: float) -> tuple[float, float]:
    """Return a 95 % interval of the mean of few values of at most this magnitude, such as differences at moments.

    It is the t-interval after two values are added at each end of the range, as Agresti and Coull 1998 add successes
    and failures. So values that happen to be alike do not hide a rare large one. Each end misses the mean with less
    than 4 % for any distribution of two values, and `bounded_interval`, which promises more, needs far more values.
    """
    padded = np.concatenate([np.asarray(values, dtype=np.float64), ADDED * [-largest, largest]])
    mean = float(padded.mean())
    error = float(padded.std(ddof=1)) / math.sqrt(len(padded))
    half = student_quantile(HIGH, len(padded) - 1) * error
    return max(mean - half, -largest), min(mean + half, largest)


def smallest_shown(count: int, largest: float) -> float | None:
    """Return the smallest mean that a cautious interval of so many values can show to be above 0, or None.

    That is the mean of equal values. Different ones have a wider interval.
    """
    # The values d have the mean n·d/(n + 4) after the padding, and the variance (4·n·d²/(n + 4) + 4·largest²)/(n + 3).
    padded, quantile = count + 2 * ADDED, student_quantile(HIGH, count + 2 * ADDED - 1)
    margin = count**2 * (padded - 1) - 2 * ADDED * count * quantile**2
    if margin <= 0:
        return None
    smallest = largest * quantile * math.sqrt(2 * ADDED * padded / margin)
    return smallest if smallest < largest else None


def select_losses(evidence: Sequence[float]) -> list[int]:
    """Return the indices of shown losses, with a false discovery rate of at most 5 %.

    The k largest e-values are selected if the smallest of them is at least m / (0.05 k) (e-BH: Wang, Ramdas 2022,
    arXiv:2009.02824).
    """
    order = np.argsort(-np.asarray(evidence), kind="stable")
    ranks = np.arange(1, len(order) + 1)
    passed = np.flatnonzero(np.asarray(evidence)[order] * ranks >= len(order) * DECISIVE)
    return sorted(order[: passed[-1] + 1].tolist()) if len(passed) else []


class LossEstimates(Protocol):
    """Two estimates of the loss against the best action. On average, the truth is between them."""

    @property
    def at_least(self) -> float:
        """Loss against the action that other futures prefer."""

    @property
    def at_most(self) -> float:
        """Loss against the highest mean."""


class EstimatedBounds(NamedTuple):
    """The two estimates at one decision."""

    at_least: float
    at_most: float


def bound_loss(outcomes: Floats, chosen: int) -> EstimatedBounds:
    """Return bounds of the mean lost by an action against the best one. `outcomes` has a row for each action.

    The loss against any action is at most that against the best one. So one half of the futures chooses an action and
    the other half measures it, then they swap. The highest of noisy means is at least the best mean on average.
    """
    losses = []
    for choosing, measuring in ((outcomes[:, ::2], outcomes[:, 1::2]), (outcomes[:, 1::2], outcomes[:, ::2])):
        means = choosing.mean(axis=1)
        preferred = chosen if means[chosen] == means.max() else int(means.argmax())
        losses.append(float(measuring[preferred].mean() - measuring[chosen].mean()))
    means = outcomes.mean(axis=1)
    return EstimatedBounds(sum(losses) / len(losses), float(means.max() - means[chosen]))


def loss_interval(bounds: Sequence[LossEstimates], clusters: Sequence[Hashable]) -> tuple[float, float] | None:
    """Return a 95 % interval of the mean loss: below both estimates, and above both.

    None for a single cluster, and if all high estimates are equal. A loss against the best action is never negative.
    """
    low = clustered_mean_error([each.at_least for each in bounds], clusters)
    high = clustered_mean_error([each.at_most for each in bounds], clusters)
    if high is None:
        return None
    return max(0.0, low.ends[0]) if low else 0.0, max(0.0, high.ends[1])

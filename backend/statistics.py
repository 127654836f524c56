"""Statistics of scores over seeds, as rliable defines them (Agarwal et al. 2021, arXiv:2108.13264).

Scores are a matrix, a row a run and a column a task; a statistic reduces the last two axes, whatever stands before.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Center = Literal["mean", "iqm"]

LOW, HIGH = 2.5, 97.5
DRAWS = 2_000
SEED = 20_210_830
# Draws made at once, to bound the memory that they take.
PORTION = 100


class Interval(NamedTuple):
    """The middle 95 %."""

    low: Floats
    high: Floats


def by_place(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Heights in the order of their places without what is no number; several at one place are their mean."""
    finite = np.isfinite(y)
    places, of = np.unique(x[finite], return_inverse=True)
    count = np.bincount(of, minlength=len(places))
    # Shares of the mean add up to no more than the largest, where a sum might be no number.
    heights: Floats = np.bincount(of, y[finite] / count[of], len(places)).astype(np.float64)
    return places, heights


def mean(scores: Floats) -> Floats:
    """The mean over tasks of the mean over runs."""
    return np.asarray(scores.mean(axis=-2).mean(axis=-1))


def median(scores: Floats) -> Floats:
    """The median over tasks of the mean over runs."""
    return np.asarray(np.median(scores.mean(axis=-2), axis=-1))


def interquartile_mean(scores: Floats) -> Floats:
    """The mean of all scores together without the lowest and the highest quarter, each rounded down to whole scores."""
    together = np.sort(scores.reshape(*scores.shape[:-2], -1))
    cut = together.shape[-1] // 4
    return np.asarray(together[..., cut : together.shape[-1] - cut].mean(axis=-1))


def profile(scores: Floats, thresholds: Floats) -> Floats:
    """What part of all runs on all tasks scores above each threshold."""
    together = scores.reshape(*scores.shape[:-2], -1)
    return np.asarray((together[..., np.newaxis] > thresholds).mean(axis=-2))


def probability_of_improvement(better: Floats, worse: Floats) -> Floats:
    """P(X > Y) of a run of the one and a run of the other on the same task, over tasks; a tie counts half."""
    one, other = better[..., :, np.newaxis, :], worse[..., np.newaxis, :, :]
    return np.asarray(((one > other) + (one == other) / 2).mean(axis=(-3, -2)).mean(axis=-1))


def interval(statistic: Callable[..., Floats], *scores: Floats, draws: int = DRAWS, seed: int = SEED) -> Interval:
    """The stratified bootstrap by percentiles: runs are drawn with replacement, for each task and matrix apart."""
    random = np.random.default_rng(seed)
    parts = [min(PORTION, draws - done) for done in range(0, draws, PORTION)]
    drawn = [statistic(*(_resampled(matrix, part, random) for matrix in scores)) for part in parts]
    low, high = np.percentile(np.concatenate(drawn), [LOW, HIGH], axis=0)
    return Interval(low, high)


def _resampled(scores: Floats, draws: int, random: np.random.Generator) -> Floats:
    chosen = random.integers(len(scores), size=(draws, *scores.shape))
    return np.take_along_axis(scores[np.newaxis], chosen, axis=1)


class Curve(NamedTuple):
    """The sample-efficiency curve of one task: how many runs have a score at each place, and what they come to."""

    runs: npt.NDArray[np.int64]
    center: Floats
    interval: Interval
    # The bootstrap's standard error: how much the center varies over draws.
    error: Floats


def curve(scores: Floats, center: Center, draws: int = DRAWS, seed: int = SEED) -> Curve:
    """Sum up scores of a task, a row a run and a column a place in training; NaN where a run has none.

    A mean of sorted scores by their ranks does not depend on the scores: the same ranks are drawn for all places with
    equally many runs, and what each draw comes to is one product of matrices.
    """
    ordered = np.sort(scores, axis=0)  # NaN comes last
    count = np.isfinite(scores).sum(axis=0)
    middle, low, high, error = (np.full(scores.shape[1], np.nan) for _ in range(4))
    for runs in np.unique(count[count > 0]).tolist():
        here = count == runs
        ranked = ordered[:runs, here]
        weights = _weights(runs, center)
        middle[here] = weights @ ranked
        redrawn = _redrawn(weights, draws, np.random.default_rng(seed)) @ ranked
        low[here], high[here] = np.percentile(np.ascontiguousarray(redrawn.T), [LOW, HIGH], axis=1)
        error[here] = redrawn.std(axis=0)
    return Curve(count, middle, Interval(low, high), error)


def _weights(runs: int, center: Center) -> Floats:
    """What the score of each rank counts."""
    cut = runs // 4 if center == "iqm" else 0
    weights = np.zeros(runs)
    weights[cut : runs - cut] = 1 / (runs - 2 * cut)
    return weights


def _redrawn(weights: Floats, draws: int, random: np.random.Generator) -> Floats:
    """By draw, what the score of each rank counts after runs were drawn with replacement."""
    runs = len(weights)
    ranks = np.sort(random.integers(runs, size=(draws, runs)), axis=1)
    redrawn = np.zeros((draws, runs))
    np.add.at(redrawn, (np.arange(draws)[:, np.newaxis], ranks), weights)
    return redrawn


def efficiency(
    tasks: Sequence[Floats], center: Center, draws: int = DRAWS, seed: int = SEED
) -> tuple[Floats, Interval]:
    """The sample-efficiency curve over tasks: each a matrix with a row a run and a column a place in training.

    Runs are drawn for each task apart, and each with all of its places; tasks need not have equally many.
    """
    random = np.random.default_rng(seed)
    statistic = _interquartile_of_all if center == "iqm" else _mean_of_means
    drawn = [
        statistic([task[random.integers(len(task), size=(min(PORTION, draws - done), len(task)))] for task in tasks])
        for done in range(0, draws, PORTION)
    ]
    low, high = np.percentile(np.concatenate(drawn), [LOW, HIGH], axis=0)
    return statistic(tasks), Interval(low, high)


def _mean_of_means(tasks: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean([task.mean(axis=-2) for task in tasks], axis=0))


def _interquartile_of_all(tasks: Sequence[Floats]) -> Floats:
    together = np.sort(np.concatenate(tasks, axis=-2), axis=-2)
    cut = together.shape[-2] // 4
    return np.asarray(together[..., cut : together.shape[-2] - cut, :].mean(axis=-2))


class Difference(NamedTuple):
    """A difference of means with its 95 % interval."""

    mean: float
    low: float
    high: float


def welch(one: Floats, other: Floats) -> Difference:
    """The difference of two means by Welch's t-interval, which takes no equal variances (Welch 1947).

    Colas et al. 2019 (arXiv:1904.06979) advise it for a few seeds, where a bootstrap's interval is too narrow.
    """
    difference = float(one.mean() - other.mean())
    errors = [float(scores.var(ddof=1)) / len(scores) for scores in (one, other)]
    if not sum(errors):
        return Difference(difference, difference, difference)
    # Welch and Satterthwaite: parts of the whole, so that no square of a large variance overflows.
    parts = [error / sum(errors) for error in errors]
    freedom = 1 / sum(part**2 / (len(scores) - 1) for part, scores in zip(parts, (one, other), strict=True))
    half = student_quantile(HIGH / 100, freedom) * math.sqrt(sum(errors))
    return Difference(difference, difference - half, difference + half)


def student_quantile(probability: float, freedom: float) -> float:
    """Student's t that is not exceeded with this probability: with t = √ν tan θ, the density is cos^(ν-1) θ."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, 40_001)
    density = np.maximum(np.cos(angles), 0.0) ** (freedom - 1)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    angle = np.interp(probability, below / below[-1], angles)
    return float(math.sqrt(freedom) * np.tan(angle))

"""Statistics of scores over seeds, as rliable defines them (Agarwal et al. 2021, arXiv:2108.13264).

Scores are a matrix, a row a run and a column a task; a statistic reduces the last two axes, whatever stands before.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Center = Literal["mean", "iqm"]

LOW, HIGH = 2.5, 97.5
# With these the ends of an interval vary by about 0.2 % of its width between seeds.
DRAWS = 100_000
SEED = 20_210_830
# Numbers drawn together, to bound memory.
PORTION = 1_000_000
# Numbers drawn in all: large comparisons take fewer draws, so that a figure is not kept waiting.
BUDGET = 40_000_000
MIN_DRAWS = 4_000
# Numbers of a curve's table of draws, and of what these come to at all of its places.
TABLE = 4_000_000
PLACED = 20_000_000
# Up to this many runs every possible draw is counted, so that the bootstrap is exact: 6,435 draws of 8 runs.
EXACT_RUNS = 8


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
    parts = portions(draws, sum(matrix.size for matrix in scores))
    drawn = [statistic(*(_resampled(matrix, part, random) for matrix in scores)) for part in parts]
    low, high = np.percentile(np.concatenate(drawn), [LOW, HIGH], axis=0)
    return Interval(low, high)


def portions(draws: int, numbers: int) -> list[int]:
    """Divide draws into portions that fit into memory, and take fewer draws of very many numbers."""
    draws = min(draws, max(MIN_DRAWS, BUDGET // max(1, numbers)))
    portion = max(1, PORTION // max(1, numbers))
    return [min(portion, draws - done) for done in range(0, draws, portion)]


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
    equally many runs, and what each draw comes to is one product of matrices. With few runs every possible draw is
    counted with its probability instead.
    """
    ordered = np.sort(scores, axis=0)  # NaN comes last
    count = np.isfinite(scores).sum(axis=0)
    middle, low, high, error = (np.full(scores.shape[1], np.nan) for _ in range(4))
    for runs in np.unique(count[count > 0]).tolist():
        here = count == runs
        ranked = ordered[:runs, here]
        weights = _weights(runs, center)
        middle[here] = weights @ ranked
        if runs <= EXACT_RUNS:
            ends, error[here] = _exactly(weights, ranked)
        else:
            fitting = min(draws, max(MIN_DRAWS, min(TABLE // runs, PLACED // ranked.shape[1])))
            ends, error[here] = _sampled(_redrawn(runs, center, fitting, seed), ranked)
        low[here], high[here] = ends
    return Curve(count, middle, Interval(low, high), error)


def _exactly(weights: Floats, ranked: Floats) -> tuple[Interval, Floats]:
    """Return interval and standard error over every possible draw."""
    counts, chances = every_draw(len(weights))
    values = (_of_counts(weights, counts) @ ranked).T
    order = np.argsort(values, axis=1)
    below = np.cumsum(chances[order], axis=1)
    ends = [
        np.take_along_axis(values, np.take_along_axis(order, (below < end / 100).sum(axis=1)[:, None], 1), 1)[:, 0]
        for end in (LOW, HIGH)
    ]
    center = values @ chances
    return Interval(*ends), np.sqrt(np.maximum((values - center[:, np.newaxis]) ** 2 @ chances, 0.0))


def _sampled(redrawn: Floats, ranked: Floats) -> tuple[Interval, Floats]:
    """Return interval and standard error over draws, for some places after others."""
    lows, highs, errors = [], [], []
    step = max(1, 10 * PORTION // len(redrawn))
    for first in range(0, ranked.shape[1], step):
        values = np.ascontiguousarray((redrawn @ ranked[:, first : first + step]).T)
        errors.append(values.std(axis=1))
        low, high = np.percentile(values, [LOW, HIGH], axis=1, overwrite_input=True)
        lows.append(low)
        highs.append(high)
    return Interval(np.concatenate(lows), np.concatenate(highs)), np.concatenate(errors)


@cache
def every_draw(runs: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return how often each run is in each possible draw with replacement, a row a draw, and each draw's chance."""
    bars = np.array([*combinations(range(2 * runs - 1), runs - 1)], dtype=np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, 2 * runs - 1)))
    counts = np.diff(edges, axis=1) - 1
    factorials = np.array([math.factorial(count) for count in range(runs + 1)], dtype=np.float64)
    return counts, factorials[runs] / factorials[counts].prod(axis=1) / float(runs) ** runs


def _of_counts(weights: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """By draw, what the score of each rank counts where each run is drawn this often."""
    ends = np.cumsum(counts, axis=1)
    sums = np.append(0.0, np.cumsum(weights))
    return np.asarray(sums[ends] - sums[ends - counts])


def _weights(runs: int, center: Center) -> Floats:
    """What the score of each rank counts."""
    cut = runs // 4 if center == "iqm" else 0
    weights = np.zeros(runs)
    weights[cut : runs - cut] = 1 / (runs - 2 * cut)
    return weights


@lru_cache(maxsize=4)  # a study has many points of equally many runs
def _redrawn(runs: int, center: Center, draws: int, seed: int) -> Floats:
    """By draw, what the score of each rank counts after runs were drawn with replacement."""
    chosen = np.random.default_rng(seed).integers(runs, size=(draws, runs))
    chosen += runs * np.arange(draws)[:, np.newaxis]
    counts = np.bincount(chosen.ravel(), minlength=draws * runs).reshape(draws, runs)
    return _of_counts(_weights(runs, center), counts)


def efficiency(
    tasks: Sequence[Floats], center: Center, draws: int = DRAWS, seed: int = SEED
) -> tuple[Floats, Interval]:
    """The sample-efficiency curve over tasks: each a matrix with a row a run and a column a place in training.

    Runs are drawn for each task apart, and each with all of its places; tasks need not have equally many.
    """
    random = np.random.default_rng(seed)
    statistic = _interquartile_of_all if center == "iqm" else _mean_of_means
    drawn = [
        statistic([task[random.integers(len(task), size=(part, len(task)))] for task in tasks])
        for part in portions(draws, sum(task.size for task in tasks))
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

"""Statistics of scores over runs and tasks, as rliable defines them (Agarwal et al. 2021, arXiv:2108.13264).

Their intervals are not rliable's, because a percentile bootstrap of few runs is too narrow: of three, that of a mean
covers 76 % instead of 95 %.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from arcadia_workers.contract.inference.means import (
    HIGH,
    MIN_RUNS,
    UNBOUNDED,
    Bounds,
    Floats,
    differ_enough,
    has_t_interval,
    student_quantile,
)

Center = Literal["mean", "iqm"]

PERCENTILES = (2.5, 97.5)
# With this many draws, the ends of an interval vary by about 0.2 % of its width between seeds.
DRAWS = 100_000
SEED = 20_210_830
# Numbers drawn per chunk, to limit memory.
CHUNK_NUMBERS = 1_000_000
# Numbers drawn in total. Large comparisons use fewer draws, to limit the time.
MAX_NUMBERS = 40_000_000
MIN_DRAWS = 4_000
# Limits for a curve: numbers in its table of draws, and in the values of all draws at all positions.
MAX_TABLE_NUMBERS = 4_000_000
MAX_CURVE_NUMBERS = 20_000_000
# Up to this many runs, use every possible draw, so that the bootstrap is exact: 6,435 draws of 8 runs.
MAX_EXACT_RUNS = 8
# An interquartile mean of fewer runs per task has no interval either.
MIN_INTERQUARTILE_RUNS = 5
# Nor has a probability of improvement of fewer runs in a group.
MIN_IMPROVEMENT_RUNS = 10


class Interval(NamedTuple):
    """A 95 % interval."""

    low: Floats
    high: Floats


def sorted_means(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the sorted unique x, and the mean of the finite y at each."""
    finite = np.isfinite(y)
    unique, index = np.unique(x[finite], return_inverse=True)
    count = np.bincount(index, minlength=len(unique))
    # Divide before adding, so that the sum does not overflow.
    means: Floats = np.bincount(index, y[finite] / count[index], len(unique)).astype(np.float64)
    return unique, means


# A score matrix has one row per run and one column per task. A statistic reduces the last two axes.


def mean(scores: Floats) -> Floats:
    """Return the mean over tasks of the mean over runs."""
    return np.asarray(scores.mean(axis=-2).mean(axis=-1))


def median(scores: Floats) -> Floats:
    """Return the median over tasks of the mean over runs."""
    return np.asarray(np.median(scores.mean(axis=-2), axis=-1))


def interquartile_mean(scores: Floats) -> Floats:
    """Return the mean of all scores except the lowest and the highest quarter, each rounded down to whole scores."""
    together = np.sort(scores.reshape(*scores.shape[:-2], -1))
    cut = together.shape[-1] // 4
    return np.asarray(together[..., cut : together.shape[-1] - cut].mean(axis=-1))


def profile(scores: Floats, thresholds: Floats) -> Floats:
    """Return the share of all runs on all tasks that score above each threshold."""
    together = scores.reshape(*scores.shape[:-2], -1)
    return np.asarray((together[..., np.newaxis] > thresholds).mean(axis=-2))


def probability_of_improvement(better: Floats, worse: Floats) -> Floats:
    """Return P(X > Y) for random runs of both groups on the same task, averaged over tasks. A tie counts half."""
    one, other = better[..., :, np.newaxis, :], worse[..., np.newaxis, :, :]
    return np.asarray(((one > other) + (one == other) / 2).mean(axis=(-3, -2)).mean(axis=-1))


def interval(statistic: Callable[..., Floats], *scores: Floats, draws: int = DRAWS, seed: int = SEED) -> Interval:
    """Return the stratified percentile bootstrap: runs are resampled separately for each task and matrix.

    It is rliable's, and right for ten runs or more.
    """
    random = np.random.default_rng(seed)
    chunks = draw_chunks(draws, sum(matrix.size for matrix in scores))
    drawn = [statistic(*(_resample(matrix, chunk, random) for matrix in scores)) for chunk in chunks]
    low, high = np.percentile(np.concatenate(drawn), PERCENTILES, axis=0)
    return Interval(low, high)


def draw_chunks(draws: int, numbers: int) -> list[int]:
    """Divide draws into chunks that fit into memory. Large inputs use fewer draws."""
    draws = min(draws, max(MIN_DRAWS, MAX_NUMBERS // max(1, numbers)))
    chunk = max(1, CHUNK_NUMBERS // max(1, numbers))
    return [min(chunk, draws - done) for done in range(0, draws, chunk)]


def _resample(scores: Floats, draws: int, random: np.random.Generator) -> Floats:
    chosen = random.integers(len(scores), size=(draws, *scores.shape))
    return np.take_along_axis(scores[np.newaxis], chosen, axis=1)


class CenterCurve(NamedTuple):
    """The sample-efficiency curve of one task: number of runs, center and interval at each position."""

    runs: npt.NDArray[np.int64]
    center: Floats
    interval: Interval
    # Standard deviation of the center over draws.
    error: Floats


def center_curve(
    scores: Floats, center: Center, draws: int = DRAWS, seed: int = SEED, bounds: Bounds = UNBOUNDED
) -> CenterCurve:
    """Summarize the scores of a task, with one row per run and one column per position in training.

    A mean of three runs or more has Student's t-interval, and an interquartile mean of five or more a widened
    bootstrap. For fewer, the ends are NaN, and where runs are equal or near a bound. A score is NaN where a run has
    none.

    The weights of a draw depend on ranks, not on scores. So all positions with the same number of runs share their
    draws, and one matrix product evaluates them. With few runs, every possible draw counts with its probability
    instead.
    """
    ordered = np.sort(scores, axis=0)  # NaN comes last
    count = np.isfinite(scores).sum(axis=0)
    middle, low, high, error = (np.full(scores.shape[1], np.nan) for _ in range(4))
    bounds = bounds.fit(scores[np.isfinite(scores)])
    for runs in np.unique(count[count > 0]).tolist():
        here = count == runs
        ranked = ordered[:runs, here]
        weights = _weights(runs, center)
        middle[here] = weights @ ranked
        if center == "mean":
            error[here] = ranked.std(axis=0, ddof=1) / math.sqrt(runs) if runs > 1 else 0.0
            half = student_quantile(HIGH, runs - 1) * error[here] if runs >= MIN_RUNS else np.nan
            ends = Interval(middle[here] - half, middle[here] + half)
        elif runs <= MAX_EXACT_RUNS:
            ends, error[here] = _exact_interval(weights, ranked)
        else:
            limited = min(draws, max(MIN_DRAWS, min(MAX_TABLE_NUMBERS // runs, MAX_CURVE_NUMBERS // ranked.shape[1])))
            ends, error[here] = _sampled_interval(_draw_weights(runs, center, limited, seed), ranked)
        if center == "iqm":
            ends = widen(middle[here], ends, [runs])
        shown = has_t_interval(ranked, bounds)
        low[here], high[here] = (np.where(shown, np.clip(end, *bounds), np.nan) for end in ends)
    return CenterCurve(count, middle, Interval(low, high), error)


def _exact_interval(weights: Floats, ranked: Floats) -> tuple[Interval, Floats]:
    """Return interval and standard error over every possible draw."""
    counts, chances = all_resamples(len(weights))
    values = (_weights_of_counts(weights, counts) @ ranked).T
    order = np.argsort(values, axis=1)
    below = np.cumsum(chances[order], axis=1)
    ends = [
        np.take_along_axis(values, np.take_along_axis(order, (below < end / 100).sum(axis=1)[:, None], 1), 1)[:, 0]
        for end in PERCENTILES
    ]
    center = values @ chances
    return Interval(*ends), np.sqrt(np.maximum((values - center[:, np.newaxis]) ** 2 @ chances, 0.0))


def _sampled_interval(drawn_weights: Floats, ranked: Floats) -> tuple[Interval, Floats]:
    """Return interval and standard error over draws, in chunks of positions to limit memory."""
    lows, highs, errors = [], [], []
    step = max(1, 10 * CHUNK_NUMBERS // len(drawn_weights))
    for first in range(0, ranked.shape[1], step):
        values = np.ascontiguousarray((drawn_weights @ ranked[:, first : first + step]).T)
        errors.append(values.std(axis=1))
        low, high = np.percentile(values, PERCENTILES, axis=1, overwrite_input=True)
        lows.append(low)
        highs.append(high)
    return Interval(np.concatenate(lows), np.concatenate(highs)), np.concatenate(errors)


@cache
def all_resamples(runs: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the count of each run in each possible draw, one row per draw, and the probability of each draw."""
    bars = np.array([*combinations(range(2 * runs - 1), runs - 1)], dtype=np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, 2 * runs - 1)))
    counts = np.diff(edges, axis=1) - 1
    factorials = np.array([math.factorial(count) for count in range(runs + 1)], dtype=np.float64)
    return counts, factorials[runs] / factorials[counts].prod(axis=1) / float(runs) ** runs


def _weights_of_counts(weights: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Return the weight of each rank in each draw, from the number of times each run is drawn."""
    ends = np.cumsum(counts, axis=1)
    sums = np.append(0.0, np.cumsum(weights))
    return np.asarray(sums[ends] - sums[ends - counts])


def _weights(runs: int, center: Center) -> Floats:
    """Return the weight of each rank in the center."""
    cut = runs // 4 if center == "iqm" else 0
    weights = np.zeros(runs)
    weights[cut : runs - cut] = 1 / (runs - 2 * cut)
    return weights


@lru_cache(maxsize=4)  # a study has many points with the same number of runs
def _draw_weights(runs: int, center: Center, draws: int, seed: int) -> Floats:
    """Return the weight of each rank in each random draw with replacement."""
    chosen = np.random.default_rng(seed).integers(runs, size=(draws, runs))
    chosen += runs * np.arange(draws)[:, np.newaxis]
    counts = np.bincount(chosen.ravel(), minlength=draws * runs).reshape(draws, runs)
    return _weights_of_counts(_weights(runs, center), counts)


def widen(value: Floats, ends: Interval, runs: Sequence[int]) -> Interval:
    """Return a bootstrap interval with the width that few runs require.

    Resampled runs vary less than the runs by n / (n − 1), and their variance is uncertain as for Student's t.
    """
    if min(runs) < MIN_INTERQUARTILE_RUNS:
        nothing = np.full(value.shape, np.nan)
        return Interval(nothing, nothing)
    spread = math.sqrt(float(np.mean([n / (n - 1) for n in runs])))
    factor = spread * student_quantile(HIGH, sum(runs) - len(runs)) / NormalDist().inv_cdf(HIGH)
    return Interval(value + factor * (ends.low - value), value + factor * (ends.high - value))


# Each task has one row per run, and its own number of runs. A statistic keeps further columns.
Tasks = Sequence[Floats]


def efficiency(tasks: Tasks, center: Center, draws: int = DRAWS, seed: int = SEED) -> tuple[Floats, Interval]:
    """Return the sample-efficiency curve over tasks, with one row per run and one column per position."""
    return over_tasks(tasks, interquartile_of_all if center == "iqm" else mean_of_means, draws, seed)


def over_tasks(
    tasks: Tasks, statistic: Callable[[Tasks], Floats], draws: int = DRAWS, seed: int = SEED
) -> tuple[Floats, Interval]:
    """Return a statistic of tasks with its t-interval, or NaN if a task has fewer than three runs or most are equal.

    The interquartile mean is not smooth enough for a jackknife. It has a widened bootstrap.

    The variance is the sum of those of the tasks, each by leaving out one run at a time (stratified jackknife: Efron,
    Stein 1981), with the degrees of freedom of Welch and Satterthwaite.
    """
    if statistic is interquartile_of_all:
        return _interquartile_over_tasks(tasks, draws, seed)
    value = statistic(tasks)
    if min(map(len, tasks)) < MIN_RUNS:
        return value, Interval(np.full(value.shape, np.nan), np.full(value.shape, np.nan))
    parts = np.array([_jackknife_variance(tasks, place, statistic) for place in range(len(tasks))])
    variance = parts.sum(axis=0)
    shares = parts / np.where(variance > 0, variance, 1.0)
    inverse = (shares**2 / np.array([[len(task) - 1] for task in tasks])).sum(axis=0)
    # Rounded, so that the many places of a curve share quantiles.
    degrees = np.floor(10 / np.where(inverse > 0, inverse, 1.0)) / 10
    half = np.array([student_quantile(HIGH, max(1.0, each)) for each in degrees.tolist()]) * np.sqrt(variance)
    half = np.where(_differ_enough(tasks) & (half > 0), half, np.nan)
    return value, Interval(value - half, value + half)


def _differ_enough(tasks: Tasks) -> npt.NDArray[np.bool_]:
    """Return False where the runs of most tasks do not differ enough to show how much scores vary."""
    return np.asarray(2 * np.sum([differ_enough(task) for task in tasks], axis=0) >= len(tasks))


def _jackknife_variance(tasks: Tasks, place: int, statistic: Callable[[Tasks], Floats]) -> Floats:
    task, others = tasks[place], list(tasks)
    estimates = []
    for run in range(len(task)):
        others[place] = np.delete(task, run, axis=0)
        estimates.append(statistic(others))
    return np.asarray((len(task) - 1) * np.var(estimates, axis=0))


def _interquartile_over_tasks(tasks: Tasks, draws: int, seed: int) -> tuple[Floats, Interval]:
    """Return the interquartile mean of all runs with its widened, stratified bootstrap.

    The interval is NaN if a task has fewer than five runs, or if tasks have different
    numbers of runs: then those with more runs count more, and by how much is chance.
    """
    random = np.random.default_rng(seed)
    value, runs = interquartile_of_all(tasks), [len(task) for task in tasks]
    if min(runs) < MIN_INTERQUARTILE_RUNS or len({*runs}) > 1:
        return value, Interval(np.full(value.shape, np.nan), np.full(value.shape, np.nan))
    drawn = [
        interquartile_of_all([task[random.integers(len(task), size=(chunk, len(task)))] for task in tasks])
        for chunk in draw_chunks(draws, sum(task.size for task in tasks))
    ]
    low, high = widen(value, Interval(*np.percentile(np.concatenate(drawn), PERCENTILES, axis=0)), runs)
    shown = _differ_enough(tasks) & (high > low)
    return value, Interval(np.where(shown, low, np.nan), np.where(shown, high, np.nan))


def mean_of_means(tasks: Tasks) -> Floats:
    """Return the mean over tasks of the mean over runs."""
    return np.asarray(np.mean([task.mean(axis=-2) for task in tasks], axis=0))


def median_of_means(tasks: Tasks) -> Floats:
    """Return the median over tasks of the mean over runs."""
    return np.asarray(np.median([task.mean(axis=-2) for task in tasks], axis=0))


def interquartile_of_all(tasks: Tasks) -> Floats:
    """Return the mean of all scores except the lowest and the highest quarter."""
    together = np.sort(np.concatenate(tasks, axis=-2), axis=-2)
    cut = together.shape[-2] // 4
    return np.asarray(together[..., cut : together.shape[-2] - cut, :].mean(axis=-2))

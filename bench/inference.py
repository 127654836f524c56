"""Simulated coverage of every interval and false verdicts of every comparison, with known truths.

python -m bench.inference [--quick] [--compact | --json]

The columns are the number of runs of a group, or of episodes of a calibration. "–": no interval is shown.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from arcadia_backend.suites.aggregates import estimated_median, optimality_gap
from arcadia_workers.contract.futures import JudgedMoment
from arcadia_workers.contract.inference.elimination import eliminate
from arcadia_workers.contract.inference.means import (
    MIN_RUNS,
    Floats,
    best_against_others,
    clustered_mean_error,
    share_interval,
    t_interval,
)
from arcadia_workers.contract.inference.samples import (
    MIN_IMPROVEMENT_RUNS,
    Interval,
    Tasks,
    interquartile_of_all,
    interval,
    mean_of_means,
    median_of_means,
    over_tasks,
    probability_of_improvement,
)
from arcadia_workers.contract.published import atari_5_weights
from arcadia_workers.trainer.calibration.calibrating import errors
from bench.losses import rows_of_actions, rows_of_known_agents, rows_of_losses
from bench.simulations import SEED, Ends, Row, broken, compact_table, covered, table

SIZES = (2, 3, 5, 10)
GROUPS = (2, 5, 10)
TRIALS, QUICK_TRIALS = 2_000, 150
LARGE = 200_000

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _bimodal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw runs of which 30 % fail. They are NaN, because the product names failed runs and leaves them out."""
    scores = random.normal(100, 10, shape)
    return np.where(random.random(shape) < 0.3, np.nan, scores)


def _silent(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw runs of which 30 % learn nothing and nevertheless count."""
    return np.where(random.random(shape) < 0.3, 0.0, 1.0) * 100 + random.normal(0, 10, shape)


DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda random, shape: random.normal(100, 20, shape),
    "log-normal": lambda random, shape: 60 * random.lognormal(0, 0.5, shape),
    "bounded": lambda random, shape: 100 * random.beta(1, 1, shape),
    "bimodal with failures": _bimodal,
}
# Few runs cannot show what they do not contain. No interval of the product holds for these.
HARD: dict[str, Draw] = {
    "log-normal, σ = 1.5": lambda random, shape: 60 * random.lognormal(0, 1.5, shape),
    "30 % at zero, not marked as failed": _silent,
}


def finished(scores: Floats) -> Floats:
    """Return the scores of the runs that did not fail."""
    return scores[np.isfinite(scores)]


def rows_of_groups(trials: int, distributions: Mapping[str, Draw], promised: bool = True) -> list[Row]:
    """Simulate the intervals of one group and of two groups of runs."""
    found = []
    for name, draw in distributions.items():
        truth = float(np.nanmean(draw(np.random.default_rng(0), (LARGE,))))
        for question, attempt in (
            ("mean of a group: Student's t", partial(_mean, draw, truth)),
            ("difference of two means: Welch", partial(_difference, draw)),
            ("probability of improvement: bootstrap", partial(_improvement, draw)),
            ("interquartile mean: widened bootstrap", partial(_interquartile, draw)),
            ("share of runs above a return: Clopper–Pearson", partial(_share, draw)),
        ):
            shares = {size: covered(trials, SEED, partial(attempt, size)) for size in SIZES}
            found.append(Row(question, name, shares, promised=promised))
    return found


def _mean(draw: Draw, truth: float, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    scores = finished(draw(random, (size,)))
    return t_interval(scores.tolist()), truth


def _difference(draw: Draw, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    one, other = (finished(draw(random, (size,))) for _ in range(2))
    if min(len(one), len(other)) < MIN_RUNS:
        return None, 0.0
    (found,) = best_against_others([one, other])
    return (found.low, found.high), 0.0


def _improvement(draw: Draw, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    one, other = (finished(draw(random, (size,)))[:, np.newaxis] for _ in range(2))
    if min(len(one), len(other)) < MIN_IMPROVEMENT_RUNS:
        return None, 0.5
    return _to_ends(interval(probability_of_improvement, one, other, draws=1_000)), 0.5


def _interquartile(draw: Draw, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    truth = _population(draw, interquartile_of_all)
    scores = finished(draw(random, (size,)))
    if not len(scores):
        return None, truth
    return _to_ends(over_tasks([scores[:, np.newaxis]], interquartile_of_all, draws=1_000)[1]), truth


def _share(draw: Draw, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    truth = float(np.mean(finished(draw(np.random.default_rng(0), (20_000,))) > 90))
    scores = finished(draw(random, (size,)))
    return (share_interval(int((scores > 90).sum()), len(scores)) if len(scores) >= MIN_RUNS else None), truth


def _to_ends(found: Interval) -> Ends:
    low, high = (float(np.ravel(end)[0]) for end in found)
    return (low, high) if np.isfinite([low, high]).all() else None


def _population(draw: Draw, statistic: Callable[[Tasks], Floats], scales: Sequence[float] = (1.0,)) -> float:
    random = np.random.default_rng(0)
    many = [scale * finished(draw(random, (20_000,)))[:, np.newaxis] for scale in scales]
    return float(statistic([task[: min(map(len, many))] for task in many])[0])


# Five games whose scores differ in size, as human-normalized scores do.
SCALES = (0.2, 0.5, 1.0, 1.5, 4.0)


def rows_of_games(trials: int) -> list[Row]:
    """Simulate the statistics over five games, each with the same number of runs."""
    weights = np.array([row.weight for row in atari_5_weights()])
    statistics: dict[str, Callable[[Tasks], Floats]] = {
        "mean": mean_of_means,
        "median": median_of_means,
        "interquartile mean": interquartile_of_all,
        "optimality gap": optimality_gap,
        "estimated median of 57": lambda tasks: estimated_median(tasks, weights),
    }
    found = []
    for question, statistic in statistics.items():
        for name, draw in DISTRIBUTIONS.items():
            truth = _population(draw, statistic, SCALES)
            attempts = {size: partial(_over_games, draw, statistic, truth, size) for size in SIZES}
            shares = {size: covered(trials, SEED, attempt) for size, attempt in attempts.items()}
            found.append(Row(f"{question} over five games", name, shares))
    return found


def _over_games(
    draw: Draw, statistic: Callable[[Tasks], Floats], truth: float, size: int, random: np.random.Generator
) -> tuple[Ends, float]:
    tasks = [scale * finished(draw(random, (size,)))[:, np.newaxis] for scale in SCALES]
    return _to_ends(over_tasks(tasks, statistic, draws=1_000)[1]), truth


def rows_of_verdicts(trials: int) -> list[Row]:
    """Simulate pages of equal groups on which the best group is said to beat another one."""
    found = []
    for groups in GROUPS:
        for name, draw in DISTRIBUTIONS.items():
            shares: dict[int, float | None] = {}
            for size in SIZES:
                random = np.random.default_rng(SEED)
                pages = [[finished(draw(random, (size,))) for _ in range(groups)] for _ in range(trials)]
                shown = [[each for each in page if len(each) >= MIN_RUNS] for page in pages]
                false = [any(pair.low > 0 for pair in best_against_others(page)) for page in shown if len(page) > 1]
                shares[size] = float(np.mean(false)) if len(false) >= trials / 4 else None
            found.append(Row(f"the best of {groups} equal groups beats another", name, shares, wrong=True))
    for name, draw in DISTRIBUTIONS.items():
        random = np.random.default_rng(SEED)
        studies = [eliminate(draw(random, (4, 20)), [0] * 4) for _ in range(trials)]
        wrong = float(np.mean([any(each.beaten_by is not None for each in study) for study in studies]))
        found.append(
            Row("a point of four equal ones is worse, checked after each of 20 seeds", name, {20: wrong}, wrong=True)
        )
    return found


def rows_of_episodes(trials: int) -> list[Row]:
    """Simulate evaluations with repeated episodes, and calibrations whose decisions are related inside an episode."""
    found = [Row("mean of 30 episodes of which many repeat", "normal", {30: covered(trials, SEED, _repeated)})]
    for measure in ("bias", "correlation", "skill"):
        attempts = {size: partial(_calibration, measure, size) for size in SIZES if size > 2}
        shares: dict[int, float | None] = {size: covered(trials, SEED, each) for size, each in attempts.items()}
        found.append(Row(f"{measure} of a critic, by episodes", "normal", shares))
    return found


def _repeated(random: np.random.Generator) -> tuple[Ends, float]:
    outcomes = random.normal(20, 10, 30)
    drawn = random.integers(30, size=30)
    found = clustered_mean_error(outcomes[drawn].tolist(), drawn.tolist())
    return found and found.interval, float(outcomes.mean())


BIAS, ERROR, SPREAD, NOISE = 0.2, 0.4, 0.8, 1.0


def _calibration(measure: str, episodes: int, random: np.random.Generator) -> tuple[Ends, float]:
    """Judge eight decisions of each episode. Half of the variance is shared by the decisions of an episode."""
    judged = []
    for episode in range(episodes):
        level, offset = random.normal(0, SPREAD * 0.5**0.5), random.normal(0, ERROR * 0.5**0.5)
        for decision in range(8):
            true = level + random.normal(0, SPREAD * 0.5**0.5)
            returns = true + random.normal(0, NOISE, 16)
            value = true + BIAS + offset + random.normal(0, ERROR * 0.5**0.5)
            judged.append(_moment(episode, decision, value, returns))
    found = errors(judged)
    squared = BIAS**2 + ERROR**2
    truth = {
        "bias": BIAS,
        "correlation": SPREAD**2 / ((SPREAD**2 + ERROR**2) * (SPREAD**2 + NOISE**2 / 16)) ** 0.5,
        "skill": 1 - squared / SPREAD**2,
    }
    return getattr(found, f"{measure}_interval"), truth[measure]


def _moment(episode: int, decision: int, value: float, returns: Floats) -> JudgedMoment:
    mean, error = float(returns.mean()), float(returns.std(ddof=1) / len(returns) ** 0.5)
    return JudgedMoment(
        episode=episode,
        decision=decision,
        value=float(value),
        mean=mean,
        interval=(mean - 2 * error, mean + 2 * error),
        standard_error=error,
        regret=None,
    )


def simulate(trials: int) -> Iterator[tuple[Row, int]]:
    """Yield each row with its number of trials."""
    half, quarter = (max(50, trials // share) for share in (2, 4))
    for simulated, number in (
        (partial(rows_of_groups, distributions=DISTRIBUTIONS), trials),
        (rows_of_games, quarter),
        (rows_of_verdicts, trials),
        (rows_of_episodes, half),
        (rows_of_losses, quarter),
        (rows_of_actions, trials),
        (rows_of_known_agents, half),
        (partial(rows_of_groups, distributions=HARD, promised=False), trials),
    ):
        yield from ((row, number) for row in simulated(number))


def main() -> int:
    """Print the table as Markdown, or as JSON. Return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_TRIALS} instead of {TRIALS:,} trials")
    parser.add_argument("--compact", action="store_true", help="print only the worst share of each question")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    simulated = [*simulate(QUICK_TRIALS if options.quick else TRIALS)]
    rows = [row for row, _ in simulated]
    if options.json:
        print(json.dumps({"rows": [vars(row) | {"trials": trials} for row, trials in simulated]}))
    else:
        print("\n".join(compact_table(rows) if options.compact else table(rows)))
    return int(any(broken(row, trials) for row, trials in simulated))


if __name__ == "__main__":
    raise SystemExit(main())

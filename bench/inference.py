"""Simulated coverage of every interval and false verdicts of every comparison, with known truths.

python -m bench.inference [--quick | --trials N] [--compact | --json] [--data FOLDER]

The columns are the number of runs of a group, or of episodes of a calibration. "–": no interval is shown.
"""

import argparse
import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from arcadia_backend.suites import estimated_median, optimality_gap
from arcadia_workers.contract.futures import JudgedMoment
from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.elimination import eliminate
from arcadia_workers.contract.inference.means import (
    MIN_RUNS,
    UNBOUNDED,
    Bounds,
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
from bench.looks import GROUPS, LOOK_SIZES, LookRow, look_table, row_of_looks
from bench.losses import rows_of_actions, rows_of_known_agents, rows_of_losses
from bench.simulations import SEED, Ends, Row, broken, compact_table, covered_row, table

SIZES = (2, 3, 5, 10)
TRIALS, QUICK_TRIALS = 2_000, 100
LARGE = 200_000

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class Family:
    """A distribution of the scores of runs. Scores of runs that are marked as failed are NaN."""

    draw: Draw
    # The bounds of the score, as far as the product knows them.
    bounds: Bounds = UNBOUNDED
    # Whether a t-interval of the mean is promised to be right.
    promised: bool = True


def failing(share: float, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw runs of which a share fails and is marked so. The product names them and leaves them out."""
    return np.where(random.random(shape) < share, np.nan, random.normal(100, 10, shape))


def silent(share: float, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw runs of which a share learns nothing and nevertheless counts."""
    return np.where(random.random(shape) < share, 0.0, 1.0) * 100 + random.normal(0, 10, shape)


def at_maximum(share: float, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw runs of which a share reaches the highest score, as in CartPole."""
    return np.where(random.random(shape) < share, 500.0, random.uniform(200, 500, shape))


def log_normal(sigma: float, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw scores with a long tail."""
    return 60 * random.lognormal(0, sigma, shape)


CARTPOLE, PONG = score_bounds("CartPole-v1"), score_bounds("ALE/Pong-v5")
FAMILIES: dict[str, Family] = {
    "normal": Family(lambda random, shape: random.normal(100, 20, shape)),
    "log-normal, σ = 0.5": Family(partial(log_normal, 0.5)),
    "uniform": Family(lambda random, shape: 100 * random.random(shape)),
    "30 % fail, marked": Family(partial(failing, 0.3)),
    "50 % fail, marked": Family(partial(failing, 0.5)),
    "Pong-like, near the maximum": Family(lambda random, shape: -21 + 42 * random.beta(4, 0.5, shape), PONG),
    "30 % at the maximum": Family(partial(at_maximum, 0.3), CARTPOLE),
    "70 % at the maximum": Family(partial(at_maximum, 0.7), CARTPOLE),
    "70 % at a maximum that is not known": Family(partial(at_maximum, 0.7)),
    # Few runs cannot show a long tail or failures that they do not contain.
    "log-normal, σ = 1": Family(partial(log_normal, 1.0), promised=False),
    "log-normal, σ = 1.5": Family(partial(log_normal, 1.5), promised=False),
    "30 % fail silently": Family(partial(silent, 0.3), promised=False),
    "50 % fail silently": Family(partial(silent, 0.5), promised=False),
}


def finished(scores: Floats) -> Floats:
    """Return the scores of the runs that did not fail."""
    return scores[np.isfinite(scores)]


def rows_of_groups(trials: int, names: Iterable[str] = FAMILIES) -> list[Row]:
    """Simulate the intervals of one group and of two groups of runs."""
    found = []
    for name in names:
        family = FAMILIES[name]
        truth = float(np.nanmean(family.draw(np.random.default_rng(0), (LARGE,))))
        # Ranks and differences of equal groups do not depend on tails.
        for question, attempt, promised in (
            ("mean of a group: Student's t", partial(_mean, family, truth), family.promised),
            ("difference of two means: Welch", partial(_difference, family), True),
            ("probability of improvement: bootstrap", partial(_improvement, family.draw), True),
            ("interquartile mean: widened bootstrap", partial(_interquartile, family.draw), family.promised),
            ("share of runs above a return: Clopper–Pearson", partial(_share, family.draw), True),
        ):
            attempts = {size: partial(attempt, size) for size in SIZES}
            found.append(covered_row(question, name, trials, attempts, promised))
    return found


def _mean(family: Family, truth: float, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    scores = finished(family.draw(random, (size,)))
    return t_interval(scores.tolist(), family.bounds), truth


def _difference(family: Family, size: int, random: np.random.Generator) -> tuple[Ends, float]:
    one, other = (finished(family.draw(random, (size,))) for _ in range(2))
    if min(len(one), len(other)) < MIN_RUNS:
        return None, 0.0
    (found,) = best_against_others([one, other])
    return found and (found.low, found.high), 0.0


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
        for name, family in FAMILIES.items():
            truth = _population(family.draw, statistic, SCALES)
            attempts = {size: partial(_over_games, family.draw, statistic, truth, size) for size in SIZES}
            # Normalized scores have no known bounds.
            promised = family.promised and family.bounds != PONG
            found.append(covered_row(f"{question} over five games", name, trials, attempts, promised))
    return found


def _over_games(
    draw: Draw, statistic: Callable[[Tasks], Floats], truth: float, size: int, random: np.random.Generator
) -> tuple[Ends, float]:
    tasks = [scale * finished(draw(random, (size,)))[:, np.newaxis] for scale in SCALES]
    if min(map(len, tasks)) < MIN_RUNS:
        return None, truth
    return _to_ends(over_tasks(tasks, statistic, draws=1_000)[1]), truth


def rows_of_verdicts(trials: int) -> list[Row]:
    """Simulate pages of equal groups on which the best group is said to beat another one."""
    found = []
    for groups in GROUPS:
        for name, family in FAMILIES.items():
            shares: dict[int, float | None] = {}
            shown: dict[int, float] = {}
            for size in SIZES:
                random = np.random.default_rng(SEED)
                pages = [[finished(family.draw(random, (size,))) for _ in range(groups)] for _ in range(trials)]
                known = [[each for each in page if len(each) >= MIN_RUNS] for page in pages]
                false = [_has_winner(page) for page in known if len(page) > 1]
                shares[size] = float(np.mean(false)) if false else None
                shown[size] = len(false) / trials
            found.append(Row(f"the best of {groups} equal groups beats another", name, shares, wrong=True, shown=shown))
    for name, family in FAMILIES.items():
        random = np.random.default_rng(SEED)
        studies = [eliminate(family.draw(random, (4, 20)), [0] * 4) for _ in range(trials)]
        wrong = float(np.mean([any(each.beaten_by is not None for each in study) for study in studies]))
        found.append(
            Row("a point of four equal ones is worse, checked after each of 20 seeds", name, {20: wrong}, wrong=True)
        )
    return found


def _has_winner(page: Sequence[Floats]) -> bool:
    return any(pair is not None and pair.low > 0 for pair in best_against_others(page))


def rows_of_episodes(trials: int) -> list[Row]:
    """Simulate evaluations with repeated episodes, and calibrations whose decisions are related inside an episode."""
    found = [covered_row("mean of 30 episodes of which many repeat", "normal", trials, {30: _repeated})]
    for share in (0.7, 0.9):
        attempts = {size: partial(_bounded_episodes, share, size) for size in (10, 30, 100)}
        scores = f"{share * 100:.0f} % at the maximum"
        found.append(covered_row("mean of the episodes of an evaluation", scores, trials, attempts))
    for measure in ("bias", "correlation", "skill"):
        attempts = {size: partial(_calibration, measure, size) for size in SIZES if size > 2}
        found.append(covered_row(f"{measure} of a critic, by episodes", "normal", trials, attempts))
    return found


def _bounded_episodes(share: float, count: int, random: np.random.Generator) -> tuple[Ends, float]:
    found = clustered_mean_error(at_maximum(share, random, (count,)).tolist(), range(count))
    return found and found.interval, 500 * share + 350 * (1 - share)


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


def parts(trials: int) -> list[tuple[Callable[[int], Sequence[Row]], int]]:
    """Return the simulations with their numbers of trials."""
    half, quarter = (max(50, trials // share) for share in (2, 4))
    return [
        *((partial(rows_of_groups, names=[name]), trials) for name in FAMILIES),
        (rows_of_games, half),
        (rows_of_verdicts, trials),
        (rows_of_episodes, half),
        (rows_of_losses, quarter),
        (rows_of_actions, trials),
        (rows_of_known_agents, half),
    ]


def simulate(trials: int) -> Iterator[tuple[Row, int]]:
    """Yield each row with its number of trials. Each part runs in its own process."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = [(pool.submit(part, number), number) for part, number in parts(trials)]
        for future, number in running:
            yield from ((row, number) for row in future.result())


def simulate_looks(pages: int) -> list[LookRow]:
    """Simulate pages that are looked at while runs train."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(row_of_looks, n, groups, pages) for n in LOOK_SIZES for groups in GROUPS]
        return [future.result() for future in running]


def write_data(folder: Path, simulated: Sequence[tuple[Row, int]], looks: Sequence[LookRow]) -> None:
    """Write the rows of docs/inference.md."""
    with (folder / "inference.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["question", "scores", "number", "promised", "kind", "share", "shown", "trials"])
        for row, trials in simulated:
            for size, share in row.shares.items():
                shown = row.shown.get(size, 1.0)
                numbers = ["" if share is None else round(share, 4), round(shown, 4), trials]
                kind = "false" if row.wrong else "covered"
                writer.writerow([row.question, row.scores, size, "yes" if row.promised else "no", kind, *numbers])
    with (folder / "while-training.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(LookRow._fields)
        writer.writerows([each._replace(false=round(each.false, 4)) for each in looks])


def main() -> int:
    """Print the table as Markdown, or as JSON. Return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_TRIALS} instead of {TRIALS:,} trials")
    parser.add_argument("--trials", type=int, help="number of trials")
    parser.add_argument("--compact", action="store_true", help="print only the worst share of each question")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--data", type=Path, help="folder for the files of the tables in docs/inference.md")
    options = parser.parse_args()
    trials = options.trials or (QUICK_TRIALS if options.quick else TRIALS)
    looks = simulate_looks(trials)
    simulated = [*simulate(trials)]
    rows = [row for row, _ in simulated]
    if options.data:
        write_data(options.data, simulated, looks)
    if options.json:
        described = [vars(row) | {"trials": trials} for row, trials in simulated]
        print(json.dumps({"rows": described, "while_training": [each._asdict() for each in looks]}))
    else:
        print("\n".join(compact_table(rows) if options.compact else table(rows)))
        print("\n".join(look_table(looks)))
    is_broken = any(broken(row, number) for row, number in simulated) or any(each.is_broken for each in looks)
    return int(is_broken)


if __name__ == "__main__":
    raise SystemExit(main())

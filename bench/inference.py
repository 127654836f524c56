"""Simulated coverage of every interval and false verdicts of every comparison, with known truths.

python -m bench.inference [--quick] [--compact | --json]

The columns are the number of runs of a group, or of episodes of a calibration. "–": no interval is shown.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from backend.suites.aggregates import estimated_median, optimality_gap
from bench.solved import AGENTS, WORLDS, KnownAgent
from workers.contract.calibrations import USUAL_FUTURES, JudgedMoment
from workers.contract.futures import USUAL_FUTURES as SCREEN
from workers.contract.inference.elimination import eliminate
from workers.contract.inference.losses import (
    DECISIVE,
    MARGIN,
    Bounds,
    bound_loss,
    loss_evidence,
    loss_interval,
    select_losses,
)
from workers.contract.inference.means import (
    Floats,
    best_against_others,
    clustered_mean_error,
    share_interval,
    t_interval,
)
from workers.contract.inference.samples import (
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
from workers.contract.published import atari_5_weights
from workers.trainer.calibration.calibrating import errors

SEED = 20_261_129
SIZES = (2, 3, 5, 10)
GROUPS = (2, 5, 10)
TRIALS, QUICK_TRIALS = 2_000, 150
# A mean of fewer runs has no interval on any page.
MIN_RUNS = 3
LARGE = 200_000

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
Ends = tuple[float, float] | None


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


@dataclass(frozen=True)
class Row:
    """Simulated shares of one question for each size; None where the product shows nothing."""

    question: str
    scores: str
    shares: Mapping[int, float | None]
    # Whether shares are of wrong verdicts. If not, they are of intervals that cover the truth.
    wrong: bool = False
    # Whether the product promises these: at least this share covered, or at most 5 % wrong.
    promised: bool = field(default=True)
    least: float = 0.9


def finished(scores: Floats) -> Floats:
    """Return the scores of the runs that did not fail."""
    return scores[np.isfinite(scores)]


def covered(trials: int, seed: int, attempt: Callable[[np.random.Generator], tuple[Ends, float]]) -> float | None:
    """Return how often an interval covers the truth, or None if most trials show no interval."""
    random = np.random.default_rng(seed)
    shown = [(ends, truth) for ends, truth in (attempt(random) for _ in range(trials)) if ends is not None]
    if len(shown) < trials / 4:
        return None
    return float(np.mean([low <= truth <= high for (low, high), truth in shown]))


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
    return (t_interval(scores.tolist()) if len(scores) >= MIN_RUNS else None), truth


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
    if min(map(len, tasks)) < MIN_RUNS:
        return None, truth
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
    for measure in ("bias", "rmse", "correlation", "skill"):
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
        "rmse": squared**0.5,
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


def rows_of_losses(trials: int) -> list[Row]:
    """Simulate the regret of agents with many decisions, and the choice of decisions that lose."""
    found = []
    for agent in ("perfect", "equal actions", "random", "good"):
        for futures in (16, 64):
            shares = {futures: covered(trials, SEED, partial(_regret, agent, futures))}
            found.append(Row("regret of 40 decisions, by futures", agent, shares))
    random = np.random.default_rng(SEED)
    wrong = float(np.mean([_false_discoveries(random) for _ in range(trials)]))
    found.append(Row("share of false losses among those selected", "−1, 0 or 1", {256: wrong}, wrong=True))
    return found


def rows_of_actions(trials: int) -> list[Row]:
    """Simulate tests of other actions that are equally good."""
    found = []
    for actions in (6, 18):
        random = np.random.default_rng(SEED)
        wrong = float(np.mean([_calls_equal_action_better(actions, random) for _ in range(trials)]))
        found.append(Row(f"one of {actions} equal actions is better", "−1, 0 or 1", {256: wrong}, wrong=True))
    return found


def _regret(agent: str, futures: int, random: np.random.Generator) -> tuple[Ends, float]:
    bounds: list[Bounds] = []
    lost = []
    for _ in range(40):
        actions = np.zeros(6) if agent == "equal actions" else random.normal(0, 0.3, 6)
        chosen = {
            "perfect": int(actions.argmax()),
            "equal actions": 0,
            "random": int(random.integers(6)),
            "good": int((actions + random.normal(0, 0.2, 6)).argmax()),
        }[agent]
        shared = random.normal(0, 0.5, futures)
        bounds.append(bound_loss(actions[:, np.newaxis] + shared + random.normal(0, 1, (6, futures)), chosen))
        lost.append(float(actions.max() - actions[chosen]))
    return loss_interval(bounds, [number % 10 for number in range(40)]), float(np.mean(lost))


def _outcomes(random: np.random.Generator, mean: float, pairs: int) -> Floats:
    """Return differences of outcomes that are mostly 0."""
    wins = (1 + mean / 0.4) / 2
    return random.choice([1.0, 0.0, -1.0], size=pairs, p=[0.4 * wins, 0.6, 0.4 * (1 - wins)])


def _calls_equal_action_better(actions: int, random: np.random.Generator) -> bool:
    """Screen equal actions and test the best with up to 256 pairs, looking after each block of 32."""
    screen = random.choice([1.0, 0.0, -1.0], size=(actions, 64), p=[0.2, 0.6, 0.2]).mean(axis=1)
    if screen.argmax() == 0:
        return False
    pairs = _outcomes(random, 0.0, 256)
    return any(loss_evidence(pairs[:end].tolist(), 1.0) >= DECISIVE for end in range(32, 257, 32))


def _false_discoveries(random: np.random.Generator) -> float:
    """Test 40 decisions, of which 8 lose 0.3. Return the share of false ones among those selected."""
    losses = np.where(np.arange(40) < 8, 0.3, 0.0)
    selected = select_losses([loss_evidence(_outcomes(random, loss, 256).tolist(), 1.0) for loss in losses])
    return float(np.mean([losses[index] == 0 for index in selected])) if selected else 0.0


def rows_of_known_agents(trials: int) -> list[Row]:
    """Judge agents with known policies in exactly solved environments."""
    found = []
    for (world, actions), solved in WORLDS.items():
        for name, policy in AGENTS.items():
            agent = KnownAgent(solved, policy(solved))
            scores = f"{world}: {name} agent, {actions} actions"
            share = covered(trials, SEED, partial(_known_regret, agent))
            wrong = float(np.mean([_falsely_better(agent, seed) for seed in range(trials)]))
            found.append(Row("regret in a solved environment", scores, {USUAL_FUTURES: share}, least=0.93))
            found.append(Row("an action is better, in a solved environment", scores, {SCREEN: wrong}, wrong=True))
    return found


def _known_regret(agent: KnownAgent, random: np.random.Generator) -> tuple[Ends, float]:
    regret = agent.regret(int(random.integers(2**32)), USUAL_FUTURES)
    # Sums of rewards are rounded. Where no future differs, the interval is a point.
    return regret.interval if regret else None, round(agent.true_regret, 12)


def _falsely_better(agent: KnownAgent, seed: int) -> bool:
    tested, better = agent.challenge(seed, SCREEN)
    return tested.is_better and better <= MARGIN * tested.scale


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


def broken(row: Row, trials: int) -> bool:
    """Return True if a promise is broken by more than three standard errors of the simulation."""
    limit = 0.05 if row.wrong else row.least
    slack = 3 * (limit * (1 - limit) / trials) ** 0.5
    known = [share for share in row.shares.values() if share is not None]
    return row.promised and any(share > limit + slack if row.wrong else share < limit - slack for share in known)


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| question | scores | share by number |"
    yield "| --- | --- | --- |"
    for row in rows:
        shares = ", ".join(f"{size}: {'–' if share is None else f'{share:.1%}'}" for size, share in row.shares.items())
        yield f"| {row.question} | {row.scores} | {kind(row)}: {shares} |"


def compact_table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table with the worst share of each question over all scores."""
    yield "| question | simulations | worst share by number |"
    yield "| --- | --- | --- |"
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.question, kind(row)), []).append(row)
    for (question, how), of_question in groups.items():
        shares: dict[int, list[float]] = {}
        for row in of_question:
            for size, share in row.shares.items():
                shares.setdefault(size, []).extend([] if share is None else [share])
        worst = max if of_question[0].wrong else min
        shown = ", ".join(f"{size}: {f'{worst(known):.1%}' if known else '–'}" for size, known in shares.items())
        yield f"| {question} | {len(of_question)} | {how}: {shown} |"


def kind(row: Row) -> str:
    """Return what the shares of a row are of."""
    return ("wrong" if row.wrong else "covered") + ("" if row.promised else " (not promised)")


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

"""Reviews of agents whose mistakes are known exactly: `python -m bench.reviews [--trials N]`.

Agents with injected mistakes play environments that are solved (bench/solved.py). The product's procedure reviews every
decision of some episodes. The command shows how many of the mistakes that it shows are false, at the end and when the
first one is shown, how many it finds by the size of the loss, and how often the reported loss covers the true one.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from arcadia_workers.contract.inference.losses import MARGIN
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.review import ReviewedDecision
from arcadia_workers.trainer.review.procedure import ReviewInProgress
from bench.raw_values import add_csv_option, write_rows
from bench.simulations import SEED
from bench.solved import GAMMA, WORLDS, KnownAgent, World

TRIALS, DECISIONS = 1_000, 40
# Share of random actions of an agent that is perfect otherwise.
INJECTED = 0.1
LOSSES = (0.02, 0.1, 0.3, 0.6, 1.0, 2.0)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of futures. All rewards are at most 1, so the scores are not needed."""

    outcomes: Floats

    @property
    def scores(self) -> Floats:
        """Return the outcomes."""
        return self.outcomes


@dataclass
class Tally:
    """What many reviews have shown."""

    false_at_end: list[float] = field(default_factory=list)
    false_at_first: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    found: dict[float, list[bool]] = field(default_factory=lambda: defaultdict(list))
    simulations: list[int] = field(default_factory=list)


class ReviewedAgent:
    """An agent of a solved environment, whose decisions are reviewed."""

    def __init__(self, world: World) -> None:
        self._agent = KnownAgent(world, world.flawed(INJECTED))
        self._actions = world.actions
        self._truth = world.action_values(self._agent.policy, until_reward=True)

    def review(self, seed: int, tally: Tally) -> None:
        """Review one set of decisions."""
        random = np.random.default_rng(seed)
        states, taken = [*zip(*self._decisions(random), strict=True)]

        def simulate(decision: int, firsts: Sequence[int], futures: range) -> Outcomes:
            luck = np.random.default_rng([seed, decision, 1 + futures.start])
            [rewards] = self._agent.futures(luck, np.array([states[decision]]), len(futures))
            return Outcomes(first_rewards(rewards[list(firsts)]))

        names = [str(action) for action in range(self._actions)]
        decisions = [
            ReviewedDecision(decision=at, reason="every", taken=str(action)) for at, action in enumerate(taken)
        ]
        review = ReviewInProgress(decisions, names, simulate, is_clipped=True)
        review.run(lambda: bool(self._mistakes(review)))
        if self._mistakes(review):
            tally.false_at_first.append(self._false_share(review, states))
        else:
            tally.false_at_first.append(0.0)
        review.run(lambda: False)
        tally.false_at_end.append(self._false_share(review, states))
        tally.simulations.append(review.simulations)
        for each in review.reviewed:
            state = states[each.decision]
            values = self._truth[state]
            largest = float(values.max() - values[int(each.taken)])
            tally.found[next(size for size in LOSSES if largest <= size + 1e-9)].append(each.finding == "mistake")
            if each.loss and each.loss.interval:
                loss = self._loss(each, states)
                tally.covered.append(each.loss.interval[0] - 1e-9 <= loss <= each.loss.interval[1] + 1e-9)

    def _decisions(self, random: np.random.Generator) -> Iterator[tuple[int, int]]:
        count = 0
        while count < DECISIONS:
            for state, action in zip(*self._agent.episode(random), strict=True):
                if count < DECISIONS:
                    yield state, action
                count += 1

    @staticmethod
    def _mistakes(review: ReviewInProgress) -> list[ReviewedDecision]:
        return [each for each in review.reviewed if each.finding == "mistake"]

    def _loss(self, each: ReviewedDecision, states: Sequence[int]) -> float:
        values = self._truth[states[each.decision]]
        return float(values[int(str(each.better))] - values[int(each.taken)])

    def _false_share(self, review: ReviewInProgress, states: Sequence[int]) -> float:
        """Return the share of the shown mistakes whose true loss is within the margin."""
        shown = self._mistakes(review)
        return float(np.mean([self._loss(each, states) <= MARGIN for each in shown])) if shown else 0.0


def first_rewards(rewards: Floats) -> Floats:
    """Return the discounted first reward of each future, whose last dimension is time."""
    is_first = (rewards != 0) & ((rewards != 0).cumsum(axis=-1) == 1)
    return np.asarray((np.where(is_first, rewards, 0.0) * GAMMA ** np.arange(rewards.shape[-1])).sum(axis=-1))


def row_of(name: str, kind: str, tally: Tally) -> dict[str, object]:
    """Return what many reviews of an environment have shown."""
    row: dict[str, object] = {
        "environment": name,
        "actions": kind,
        "reviews": len(tally.false_at_end),
        "false_at_end": np.mean(tally.false_at_end),
        "false_at_first": np.mean(tally.false_at_first),
        "losses_measured": len(tally.covered),
        "losses_covered": sum(tally.covered),
        "futures": np.mean(tally.simulations),
    }
    for size in LOSSES:
        found = tally.found[size]
        row |= {f"decisions_to_{size:g}": len(found), f"found_to_{size:g}": sum(found)}
    return row


def main() -> None:
    """Review, and print and write what was shown."""
    parser = argparse.ArgumentParser(prog="python -m bench.reviews", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, metavar="N", help=f"reviews (default: {TRIALS:,})")
    add_csv_option(parser)
    options = parser.parse_args()
    rows = []
    for (name, kind), world in WORLDS.items():
        agent, tally = ReviewedAgent(world), Tally()
        for trial in range(options.trials):
            agent.review(SEED + trial, tally)
        rows.append(row_of(name, kind, tally))
        print("; ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()

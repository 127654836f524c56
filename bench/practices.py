"""Verdicts on practice between agents whose difference is known: `python -m bench.practices [--trials N] [--csv FILE]`.

Two agents with known policies play on from the mistakes of a third one, in an environment that is solved
(bench/solved.py), and are evaluated. "Equal" agents differ in many states, but not on average. The table shows how
often the product calls one of them improved or harmed, by the number of moments, episodes or pairs.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from arcadia_workers.contract.inference.losses import MARGIN
from arcadia_workers.contract.inference.means import Flags, Floats
from arcadia_workers.contract.practice import FUTURES, Difference
from arcadia_workers.contract.protocols.document import PlayedEpisode
from arcadia_workers.trainer.practice.measuring import difference_at_moments, difference_of_scores
from bench.raw_values import add_csv_option, write_rows
from bench.reviews import first_rewards
from bench.simulations import SEED
from bench.solved import END, GAMMA, KnownAgent, World, catch

TRIALS = 1_000
MOMENTS, EPISODES, PAIRS = (7, 10, 20, 40), (10, 30, 100), (3, 5, 10)

Draw = Callable[[np.random.Generator, int], Difference]


@dataclass(frozen=True)
class Mistakes:
    """The mistakes of an agent, as states with their probabilities."""

    states: Floats
    probabilities: Floats

    @classmethod
    def of(cls, world: World, policy: Floats) -> "Mistakes":
        """Find the states of an agent's episodes in which it may take an action that is worse than another one."""
        agent, random = KnownAgent(world, policy), np.random.default_rng(SEED)
        values = world.action_values(policy, until_reward=True)
        found = [
            state
            for _ in range(4_000)
            for state, action in zip(*agent.episode(random), strict=True)
            if values[state].max() - values[state, action] > MARGIN
        ]
        states, counts = np.unique(found, return_counts=True)
        return cls(states, counts / counts.sum())

    def draw(self, random: np.random.Generator, count: int) -> Floats:
        """Draw the states of some mistakes."""
        return random.choice(self.states, size=count, p=self.probabilities)


class Truth:
    """The exact values of policies in a world."""

    def __init__(self, world: World) -> None:
        self._reward, self._following, self._unrewarded = world.expected()

    def outcomes(self, policy: Floats) -> Floats:
        """Return the mean outcome from each state: the discounted reward up to the first one."""
        return self._solve(policy, GAMMA * self._unrewarded)

    def scores(self, policy: Floats) -> Floats:
        """Return the mean score from each state, without discount."""
        return self._solve(policy, self._following)

    def _solve(self, policy: Floats, following: Floats) -> Floats:
        own = np.einsum("sa,sat->st", policy, following)
        return np.asarray(np.linalg.solve(np.eye(len(own)) - own, (policy * self._reward).sum(axis=1)))


def mixed(one: Floats, other: Floats, share: float) -> Floats:
    """Return a policy between two."""
    return np.asarray(share * one + (1 - share) * other)


def balanced(difference: Callable[[float], float]) -> float:
    """Return the share at which a difference that rises with it is zero."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if difference(middle) < 0 else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True)
class Agents:
    """The agents of a pair, with the true difference of their outcomes at mistakes, and of their scores."""

    name: str
    mistakes: Mistakes
    practice: KnownAgent
    control: KnownAgent
    at_mistakes: float
    of_scores: float

    def compare_moments(self, random: np.random.Generator, count: int) -> Difference:
        """Compare them at some mistakes as the product does."""
        states, seed = self.mistakes.draw(random, count), int(random.integers(2**31))
        practice, control = (play_on(agent, states, seed)[np.newaxis] for agent in (self.practice, self.control))
        return difference_at_moments(practice, control, 2.0)

    def compare_scores(self, random: np.random.Generator, count: int) -> Difference:
        """Compare their scores as the product does."""
        seeds = random.integers(2**31, size=count).tolist()
        practice, control = ([evaluated(agent, seeds)] for agent in (self.practice, self.control))
        return difference_of_scores(practice, control)

    def compare_pairs(self, random: np.random.Generator, count: int) -> Difference:
        """Compare pairs of which each arm becomes one of the two agents by chance, so that the arms are equal."""
        states = self.mistakes.draw(random, 10)
        one, other = (
            np.array([play_on(self._by_chance(random), states, int(random.integers(2**31))) for _ in range(count)])
            for _ in range(2)
        )
        return difference_at_moments(one, other, 2.0)

    def _by_chance(self, random: np.random.Generator) -> KnownAgent:
        return self.practice if random.random() < 0.5 else self.control


def play_on(agent: KnownAgent, states: Floats, seed: int) -> Floats:
    """Return the mean outcome of futures from each state. Agents with the same seed share their random numbers."""
    random = np.random.default_rng(seed)
    rewards = agent.futures(random, states.astype(np.int64), FUTURES)
    choice = random.random((len(states), FUTURES))
    first = (agent.policy[states].cumsum(axis=1)[:, np.newaxis] <= choice[..., np.newaxis]).sum(axis=-1)
    own = np.take_along_axis(first_rewards(rewards), first[:, np.newaxis], axis=1)
    return np.asarray(own[:, 0].mean(axis=1))


def evaluated(agent: KnownAgent, seeds: Sequence[int]) -> list[PlayedEpisode]:
    """Play an episode of each seed, in which the first state depends only on the seed."""
    episodes = []
    for number, seed in enumerate(seeds):
        states, taken = agent.episode(np.random.default_rng(seed))
        [(_, score, _)] = [each for each in agent.world.outcomes[states[-1]][taken[-1]] if each[2] == END]
        play = f"{states[0]}: {taken}"
        episodes.append(
            PlayedEpisode(
                number=number, score=score, frames=5, frames_before=0, length=len(taken), ended="over", play=play
            )
        )
    return episodes


def pairs_of_agents() -> Iterator[Agents]:
    """Yield equal agents and different ones, in Catch."""
    world = catch()
    truth = Truth(world)
    perfect, uniform = world.perfect(), np.full((len(world.outcomes), world.actions), 1 / world.actions)
    old = world.flawed(0.4)
    mistakes = Mistakes.of(world, old)
    column = np.arange(len(world.outcomes)) // 5 % 5

    def differences(practice: Floats, control: Floats) -> tuple[float, float]:
        better, worse = (truth.outcomes(each)[mistakes.states] for each in (practice, control))
        higher, lower = (truth.scores(each)[world.starts].mean() for each in (practice, control))
        return float((better - worse) @ mistakes.probabilities), float(higher - lower)

    def agents(name: str, practice: Floats, control: Floats) -> Agents:
        known = KnownAgent(world, practice), KnownAgent(world, control)
        return Agents(name, mistakes, *known, *differences(practice, control))

    yield agents("the same", old, old)
    # Better with the ball in some columns, worse in the others.
    for name, better in (("better in half of the columns", column < 2), ("much better in one column", column == 0)):
        for swapped in (False, True):
            for kind, what in enumerate(("mistakes", "scores")):

                def policy(share: float, better: Flags = better) -> Floats:
                    worse = mixed(perfect, uniform, share)
                    return np.where(better[:, np.newaxis], perfect, worse)

                control = mixed(perfect, uniform, 0.6)

                def difference(share: float, kind: int = kind, control: Floats = control) -> float:
                    return differences(policy(share), control)[kind]

                other = policy(balanced(difference))
                pair = (control, other) if swapped else (other, control)
                label = name.replace("better", "worse") if swapped else name
                yield agents(f"equal {what}, {label}", *pair)
    yield agents("improved", perfect, old)
    yield agents("improved in one column", np.where((column == 0)[:, np.newaxis], perfect, old), old)


@dataclass(frozen=True)
class Row:
    """How often the product calls agents improved or harmed."""

    question: str
    agents: str
    truth: float
    # By number: the shares of improved and harmed.
    shares: dict[int, tuple[float, float]]

    @property
    def false(self) -> float:
        """The largest share of false verdicts. A verdict is false unless the difference has its sign."""
        wrong = [
            share
            for improved, harmed in self.shares.values()
            for share, is_false in ((improved, self.truth <= TINY), (harmed, self.truth >= -TINY))
            if is_false
        ]
        return max(wrong)


TINY = 1e-9


def rows(trials: int) -> Iterator[Row]:
    """Simulate every question with every pair of agents."""
    for agents in pairs_of_agents():
        questions: list[tuple[str, float, Sequence[int], Draw]] = [
            ("mistakes", agents.at_mistakes, MOMENTS, agents.compare_moments),
            ("score", agents.of_scores, EPISODES, agents.compare_scores),
            ("mistakes, over pairs", 0.0, PAIRS, agents.compare_pairs),
        ]
        for question, truth, numbers, compare in questions:
            shares = {}
            for number in numbers:
                random = np.random.default_rng([SEED, number])
                verdicts = [compare(random, number).verdict for _ in range(trials)]
                shares[number] = (verdicts.count("improved") / trials, verdicts.count("harmed") / trials)
            yield Row(question, agents.name, truth, shares)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.practices", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, metavar="N", help=f"verdicts (default: {TRIALS:,})")
    add_csv_option(parser)
    options = parser.parse_args()
    trials, written = options.trials, list[dict[str, object]]()
    print("| question | agents | true difference | improved / harmed by number |")
    print("| --- | --- | --- | --- |")
    worst: dict[str, float] = {}
    for row in rows(trials):
        worst[row.question] = max(worst.get(row.question, 0.0), row.false)
        for number, (improved, harmed) in row.shares.items():
            counts = {"improved": round(improved * trials), "harmed": round(harmed * trials)}
            of = {"question": row.question, "agents": row.agents, "difference": f"{row.truth:.3f}", "number": number}
            written.append({**of, "trials": trials, **counts})
        shares = ", ".join(
            f"{number}: {improved:.1%} / {harmed:.1%}" for number, (improved, harmed) in row.shares.items()
        )
        print(f"| {row.question} | {row.agents} | {row.truth:+.3f} | {shares} |", flush=True)
    write_rows(options.csv, written)
    for question, share in worst.items():
        print(f"{question}: at most {share:.1%} of the verdicts are false")


if __name__ == "__main__":
    main()

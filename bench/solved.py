"""Agents with known policies in environments whose action values are known exactly, judged by the product.

Environments are tables of outcomes, so the Bellman equation of a policy is a system of linear equations. The table also
simulates the futures, many at once. Bounds of the regret and tests of other actions are the product's own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import cast

import numpy as np
import numpy.typing as npt

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.futures import USUAL_EPISODES, USUAL_HORIZON, Challenge, JudgedMoment, LossBounds, Regret
from arcadia_workers.contract.inference.losses import bound_loss
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.trainer.calibration.calibrating import mean_regret
from arcadia_workers.trainer.environments.worlds.puzzles import COLUMNS, ROWS
from arcadia_workers.trainer.futures.experiment import challenge
from arcadia_workers.trainer.futures.simulating import Branch, Plan, Player

Ints = npt.NDArray[np.int64]

GAMMA = 0.9
# The test of another action reads only the discount and the clipping of the acting agent.
ACTING = cast(Player, SimpleNamespace(config=PaacConfig(env="Arcadia/Catch-v0", gamma=GAMMA, clip_rewards=True)))

Outcome = tuple[float, float, int]
"""Probability, reward, and the next state or END."""
END = -1


@dataclass(frozen=True)
class World:
    """An environment with few states. `outcomes[state][action]` are the possible outcomes of an action."""

    outcomes: Sequence[Sequence[Sequence[Outcome]]]
    # Equally probable first states.
    starts: Sequence[int]

    @property
    def actions(self) -> int:
        """Return the number of actions, which is the same in every state."""
        return len(self.outcomes[0])

    def expected(self) -> tuple[Floats, Floats, Floats]:
        """Return by state and action the mean reward, and the probabilities of next states: all, and unrewarded."""
        shape = len(self.outcomes), self.actions
        reward, following, unrewarded = np.zeros(shape), np.zeros((*shape, shape[0])), np.zeros((*shape, shape[0]))
        for state, action in np.ndindex(shape):
            for probability, paid, then in self.outcomes[state][action]:
                reward[state, action] += probability * paid
                if then != END:
                    following[state, action, then] += probability
                    unrewarded[state, action, then] += probability * (paid == 0)
        return reward, following, unrewarded

    def action_values(self, policy: Floats, *, until_reward: bool = False) -> Floats:
        """Return the exact Q(s, a) of a policy, also of the discounted reward up to the first one."""
        reward, following, unrewarded = self.expected()
        then = unrewarded if until_reward else following
        own_reward, own = (policy * reward).sum(axis=1), np.einsum("sa,sat->st", policy, then)
        values = np.linalg.solve(np.eye(len(own)) - GAMMA * own, own_reward)
        return np.asarray(reward + GAMMA * then @ values)

    def regret(self, policy: Floats) -> float:
        """Return the exact mean of max Q(s, ·) − Q(s, a) over the decisions of the policy's episodes."""
        values = self.action_values(policy)
        lost = (policy * (values.max(axis=1, keepdims=True) - values)).sum(axis=1)
        own = np.einsum("sa,sat->st", policy, self.expected()[1])
        first = np.bincount(self.starts, minlength=len(own)) / len(self.starts)
        visits = np.linalg.solve(np.eye(len(own)) - own.T, first)
        return float(lost @ visits / visits.sum())

    def perfect(self) -> Floats:
        """Return the best policy, which draws from all best actions."""
        shape = len(self.outcomes), self.actions
        policy = np.full(shape, 1 / self.actions)
        while True:
            values = self.action_values(policy)
            best = np.isclose(values, values.max(axis=1, keepdims=True), atol=1e-9)
            improved = best / best.sum(axis=1, keepdims=True)
            if np.array_equal(improved, policy):
                return policy
            policy = improved

    def flawed(self, share: float = 0.4) -> Floats:
        """Return a policy that takes one of the best actions, except for a share of random ones."""
        is_best = self.perfect() > 0
        one = np.eye(self.actions)[is_best.argmax(axis=1)]
        return np.asarray((1 - share) * one + share / self.actions)


def catch(*, windy: bool = False) -> World:
    """Return Catch. If it is windy, the ball lands anywhere, so that all actions are equally good."""

    def outcomes(row: int, ball: int, paddle: int, action: int) -> list[Outcome]:
        moved = min(max(paddle + action - 1, 0), COLUMNS - 1)
        if row + 1 < ROWS - 1:
            return [(1.0, 0.0, _board(row + 1, ball, moved))]
        if windy:
            return [(1 / COLUMNS, 1.0, END), (1 - 1 / COLUMNS, -1.0, END)]
        return [(1.0, 1.0 if moved == ball else -1.0, END)]

    boards = [*product(range(ROWS - 1), range(COLUMNS), range(COLUMNS))]
    table = [[outcomes(*board, action) for action in range(3)] for board in boards]
    return World(table, [_board(0, ball, COLUMNS // 2) for ball in range(COLUMNS)])


def _board(row: int, ball: int, paddle: int) -> int:
    return (row * COLUMNS + ball) * COLUMNS + paddle


def chain(*chances: float, continues: float = 0.8) -> World:
    """Return a game of one state. Each action pays 1 with its chance, and the game then continues with another one."""
    outcomes = [
        [
            (paid * then, reward, following)
            for paid, reward in ((chance, 1.0), (1 - chance, 0.0))
            for then, following in ((continues, 0), (1 - continues, END))
        ]
        for chance in chances
    ]
    return World([outcomes], [0])


# Environments by name, and whether their actions are equally good.
WORLDS: dict[tuple[str, str], World] = {
    ("Catch", "unequal"): catch(),
    ("Catch", "equal"): catch(windy=True),
    ("chain of 2 actions", "unequal"): chain(0.3, 0.7),
    ("chain of 2 actions", "equal"): chain(0.5, 0.5),
    ("chain of 6 actions", "unequal"): chain(0.3, 0.35, 0.4, 0.45, 0.5, 0.55),
    ("chain of 6 actions", "equal"): chain(*[0.5] * 6),
}
AGENTS: dict[str, Callable[[World], Floats]] = {"perfect": World.perfect, "flawed": World.flawed}


class KnownAgent:
    """An agent with a known policy in a world."""

    def __init__(self, world: World, policy: Floats) -> None:
        self.world, self.policy = world, policy
        self.true_regret = world.regret(policy)
        self._true_outcomes = world.action_values(policy, until_reward=True)
        self._choices = policy.cumsum(axis=1)
        most = max(len(each) for of_state in world.outcomes for each in of_state)
        table = [[[*each, *[(0.0, 0.0, END)] * (most - len(each))] for each in state] for state in world.outcomes]
        probabilities, self._rewards, self._following = np.moveaxis(np.array(table), -1, 0)
        self._outcomes = probabilities.cumsum(axis=-1)

    def regret(self, seed: int, futures: int) -> Regret | None:
        """Return the regret that a calibration of every decision of some episodes reports."""
        random = np.random.default_rng(seed)
        episodes = [self.episode(random) for _ in range(USUAL_EPISODES)]
        decisions = [
            (episode, state, action)
            for episode, (states, taken) in enumerate(episodes)
            for state, action in zip(states, taken, strict=True)
        ]
        rewards = self.futures(random, np.array([state for _, state, _ in decisions]), futures)
        returns = (rewards * GAMMA ** np.arange(rewards.shape[-1])).sum(axis=-1)
        judged = [
            JudgedMoment(
                episode=episode,
                decision=decision,
                value=0.0,
                mean=0.0,
                interval=(0.0, 0.0),
                standard_error=0.0,
                regret=LossBounds(**bound_loss(returns[decision], action)._asdict()),
            )
            for decision, (episode, _, action) in enumerate(decisions)
        ]
        return mean_regret(judged)

    def challenge(self, seed: int, futures: int) -> tuple[Challenge, float]:
        """Test the best action at a decision. Return the result, and how much better the tested action is in truth."""
        random = np.random.default_rng(seed)
        states, taken = self.episode(random)
        at = int(random.integers(len(states)))
        state, action = states[at], taken[at]

        def simulate(plans: Sequence[Plan], numbers: range) -> list[list[Branch]]:
            # The same numbers share their luck between actions. A trailing 0 would repeat the stream of the episode.
            luck = np.random.default_rng([seed, 1 + numbers.start])
            [rewards] = self.futures(luck, np.array([state]), len(numbers))
            return [[_branch(each) for each in rewards[plan.first[0]]] for plan in plans]

        plans = [Plan(USUAL_HORIZON, first=(each,)) for each in range(self.world.actions)]
        screen = simulate(plans, range(futures))
        names = [str(each) for each in range(self.world.actions)]
        tested = challenge(ACTING, Plan(USUAL_HORIZON), simulate, screen, action, names)
        values = self._true_outcomes[state]
        return tested, 0.0 if tested.action is None else float(values[int(tested.action)] - values[action])

    def episode(self, random: np.random.Generator) -> tuple[list[int], list[int]]:
        """Return the states of an episode and the actions taken."""
        states, taken, state = [], [], int(random.choice(self.world.starts))
        while state != END:
            action = int(np.searchsorted(self._choices[state], random.random(), side="right"))
            states.append(state)
            taken.append(action)
            outcome = int(np.searchsorted(self._outcomes[state, action], random.random(), side="right"))
            state = int(self._following[state, action, outcome])
        return states, taken

    def futures(self, random: np.random.Generator, states: Ints, futures: int) -> Floats:
        """Return the rewards of futures that begin with each action: by state, first action, future and decision.

        Futures with the same number share their random numbers. Each action has its own, so that even equal actions
        differ by chance.
        """
        shape = len(states), self.world.actions, futures
        at = np.broadcast_to(states[:, np.newaxis, np.newaxis], shape)
        action = np.broadcast_to(np.arange(self.world.actions)[:, np.newaxis], shape)
        rewards = []
        while (at != END).any():
            luck = random.random((shape[0], 1, futures, self.world.actions))
            drawn = np.take_along_axis(luck, np.moveaxis(action, 1, -1)[:, np.newaxis], axis=-1)
            drawn = np.moveaxis(drawn[:, 0], -1, 1)
            outcome = (self._outcomes[at, action] <= drawn[..., np.newaxis]).sum(axis=-1)
            rewards.append(np.where(at == END, 0.0, self._rewards[at, action, outcome]))
            at = np.where(at == END, END, self._following[at, action, outcome].astype(np.int64))
            choice = random.random((shape[0], 1, futures, 1))
            action = (self._choices[at] <= choice).sum(axis=-1)
        return np.stack(rewards, axis=-1)


def _branch(rewards: Floats) -> Branch:
    """Return a finished future with these rewards, in which no life is lost."""
    return cast(Branch, SimpleNamespace(rewards=rewards.tolist(), lives_lost=[False] * len(rewards)))

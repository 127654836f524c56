"""Tests of the verdict on another action, with simulated futures of known outcomes."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.futures import Challenge
from arcadia_workers.trainer.futures.experiment import challenge, outcome
from arcadia_workers.trainer.futures.simulating import Branch, Plan, Player

CLIPPED = PaacConfig(env="ALE/Pong-v5", gamma=0.5)
UNCLIPPED = PaacConfig(env="CartPole-v1", gamma=0.5, clip_rewards=False)
NAMES = ("NOOP", "UP", "DOWN")


def branch(rewards: Sequence[float], lost: Sequence[int] = ()) -> Branch:
    """Return a finished future with these rewards. A life is lost at these decisions."""
    lives = [decision in lost for decision in range(len(rewards))]
    return cast(Branch, SimpleNamespace(rewards=[*rewards], lives_lost=lives))


def test_the_outcome_ends_at_the_first_reward_or_lost_life() -> None:
    assert outcome(branch([0, 4, 1]), CLIPPED) == 0.5
    assert outcome(branch([0, 0, 1], lost=[1]), CLIPPED) == 0
    assert outcome(branch([-3, 5]), CLIPPED) == -1
    assert outcome(branch([4, 4, 4]), UNCLIPPED) == 7


class Game:
    """Futures whose first reward is 1 with a probability that depends on the first action, and −1 otherwise."""

    def __init__(self, chances: Sequence[float], config: PaacConfig = CLIPPED) -> None:
        self._chances, self.simulated = chances, list[range]()
        self.acting = cast(Player, SimpleNamespace(config=config))

    def simulate(self, plans: Sequence[Plan], futures: range) -> list[list[Branch]]:
        """Return futures of each plan. The same numbers share their luck between actions."""
        self.simulated.append(futures)
        luck = [np.random.default_rng(future).random() for future in futures]
        chances = [self._chances[int(action)] for (action,) in (plan.first for plan in plans)]
        return [[branch([1.0 if each < chance else -1.0]) for each in luck] for chance in chances]

    def challenge(self, taken: int) -> Challenge:
        """Screen 64 futures of each action and test the best."""
        screen = self.simulate([Plan(200, first=(action,)) for action in range(len(self._chances))], range(64))
        self.simulated.clear()
        return challenge(self.acting, Plan(200), self.simulate, screen, taken, NAMES)


def test_a_better_action_is_shown_by_fresh_futures_and_measured_by_others() -> None:
    game = Game([0.2, 0.9, 0.2])
    found = game.challenge(taken=0)
    assert (found.action, found.taken, found.is_better) == ("UP", "NOOP", True)
    assert found.e_value >= 20
    assert found.loss is not None
    assert found.loss.mean == pytest.approx(1.4, abs=0.3)
    assert (found.loss.count, found.pairs_needed) == (64, None)
    used = [future for futures in game.simulated for future in futures]
    assert used == list(range(64, 64 + found.pairs + 64)), "no future of the screen is used again"


def test_no_better_action_is_shown_without_a_difference() -> None:
    found = [Game([0.5, chance]).challenge(taken=0) for chance in (0.5, 0.52)]
    assert found[0].action is None, "equal futures are not better"
    assert (found[1].action, found[1].is_better, found[1].loss) == ("UP", False, None)
    assert 64 <= found[1].pairs <= 256


def test_the_best_action_has_no_challenger() -> None:
    found = Game([0.2, 0.9, 0.2]).challenge(taken=1)
    assert found == Challenge(taken="UP", action=None, scale=1)


def test_outcomes_without_clipping_are_limited_to_those_of_the_screen() -> None:
    game: Any = Game([0.2, 0.9], UNCLIPPED)
    found = game.challenge(taken=0)
    assert (found.scale, found.is_better) == (1, True)

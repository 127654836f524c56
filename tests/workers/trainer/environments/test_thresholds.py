"""Tests that the returns that solve an environment are those of Gymnasium."""

import gymnasium
import pytest

from arcadia_workers.contract.games import BOUNDS, ENVIRONMENTS, SOLVED_AT, score_bounds
from arcadia_workers.contract.inference.means import UNBOUNDED


def test_thresholds_equal_those_of_gymnasium() -> None:
    registered = {env: gymnasium.spec(env).reward_threshold for env in ENVIRONMENTS if "/" not in env}
    named = {env: threshold for env, threshold in registered.items() if threshold is not None}
    assert {env: at for env, at in SOLVED_AT.items() if "/" not in env} == named


def test_only_known_environments_have_thresholds() -> None:
    assert SOLVED_AT.keys() <= ENVIRONMENTS.keys()


@pytest.mark.parametrize("env", ["CartPole-v1", "Acrobot-v1", "MountainCar-v0", "InvertedPendulum-v5"])
def test_bounds_of_scores_follow_from_the_longest_episode(env: str) -> None:
    """A step of these environments has a reward of 1, or of −1."""
    steps = gymnasium.spec(env).max_episode_steps
    assert steps is not None
    assert max(map(abs, BOUNDS[env])) == steps


def test_bounds_are_of_known_environments() -> None:
    assert BOUNDS.keys() <= ENVIRONMENTS.keys()
    assert score_bounds("ALE/Pong-v5") == (-21, 21)
    assert score_bounds("Unknown-v0") == UNBOUNDED

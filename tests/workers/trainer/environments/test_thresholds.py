"""Tests that the returns that solve an environment are those of Gymnasium."""

import gymnasium

from arcadia_workers.contract.games import ENVIRONMENTS, SOLVED_AT


def test_thresholds_equal_those_of_gymnasium() -> None:
    registered = {env: gymnasium.spec(env).reward_threshold for env in ENVIRONMENTS if "/" not in env}
    named = {env: threshold for env, threshold in registered.items() if threshold is not None}
    assert {env: at for env, at in SOLVED_AT.items() if "/" not in env} == named


def test_only_known_environments_have_thresholds() -> None:
    assert SOLVED_AT.keys() <= ENVIRONMENTS.keys()

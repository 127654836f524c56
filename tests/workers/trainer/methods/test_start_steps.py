"""Tests that every method reports its progress before the first update."""

from typing import Any

import pytest

from arcadia_workers.contract.config import config_adapter
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun

SMALL: dict[str, Any] = {"env": "CartPole-v1", "device": "cpu", "total_steps": 50_000}


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({"algorithm": "paac", "num_envs": 4}, "Starting 4 environments"),
        ({"algorithm": "paac_q", "num_envs": 1}, "Starting 1 environment"),
        ({"algorithm": "ppo", "num_envs": 4}, "Starting 4 environments"),
        ({"algorithm": "ga3c", "num_agents": 2}, "Starting 2 agents"),
        ({"algorithm": "a3c", "num_actors": 2}, "Starting 2 actor-learners"),
        ({"algorithm": "n_step_q", "num_actors": 1}, "Starting 1 actor-learner"),
    ],
)
def test_a_method_reports_its_startup_steps(settings: dict[str, Any], first: str) -> None:
    config = config_adapter.validate_python({**SMALL, **settings})
    run = NullRun(stop_at_step=100)
    TRAINERS[config.algorithm].train(config, run)
    assert run.start_steps == [first, "First update"]

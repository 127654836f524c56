"""Tests that A3C learns small environments with every optimizer, with memory, and with continuous actions."""

from dataclasses import dataclass

import numpy as np
import pytest

from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.trainer.methods.asynchronous import a3c
from arcadia_workers.trainer.run.run import NullRun


@dataclass
class UntilLearned(NullRun):
    """A run that ends once the mean return of the last episodes reaches the goal."""

    goal: float = 0.0
    last: int = 100
    learned: bool = False

    def should_stop(self) -> bool:
        self.learned = self.learned or (len(self.episodes) >= self.last and mean_return(self) >= self.goal)
        return self.learned


def mean_return(run: UntilLearned) -> float:
    return float(np.mean([episode_return for _, _, episode_return, _ in run.episodes[-run.last :]]))


def trained(run: UntilLearned, **fields: object) -> UntilLearned:
    config = {"num_actors": 2, "total_steps": 40_000, "learning_rate_decay": "none", **fields}
    a3c.train(A3cConfig.model_validate(config), run)
    return run


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    "optimizer",
    [
        {"optimizer": "shared_rmsprop", "learning_rate": 0.01},
        pytest.param({"optimizer": "rmsprop", "learning_rate": 0.01}, marks=pytest.mark.nightly),
        pytest.param({"optimizer": "momentum_sgd", "learning_rate": 0.02, "momentum": 0.9}, marks=pytest.mark.nightly),
    ],
    ids=lambda fields: str(fields["optimizer"]),
)
def test_a3c_learns_catch_with_every_optimizer(optimizer: dict[str, object]) -> None:
    run = trained(UntilLearned(goal=0.85), env="Arcadia/Catch-v0", entropy_cost=0.05, hidden_units=32, **optimizer)
    assert run.learned


RECALL: dict[str, object] = {
    "env": "Arcadia/Recall-v0",
    "learning_rate": 0.02,
    "entropy_cost": 0.05,
    "hidden_units": 16,
}


@pytest.mark.nightly
def test_with_memory_it_learns_recall() -> None:
    assert trained(UntilLearned(goal=0.85), **RECALL, lstm_units=16).learned


@pytest.mark.nightly
def test_without_memory_it_cannot_learn_recall() -> None:
    run = trained(UntilLearned(goal=0.85, last=500), **{**RECALL, "total_steps": 6_000})
    assert abs(mean_return(run)) <= 0.25


@pytest.mark.parametrize("lstm_units", [0, 16], ids=["feed-forward", "lstm"])
@pytest.mark.nightly
def test_a3c_learns_target_with_continuous_actions(lstm_units: int) -> None:
    run = trained(
        UntilLearned(goal=-0.6),  # −3 to −6 at the beginning
        env="Arcadia/Target-v0",
        learning_rate=0.003,
        rmsprop_epsilon=1e-3,
        max_grad_norm=5,
        gamma=0.5,
        hidden_units=32,
        lstm_units=lstm_units,
        clip_rewards=False,
    )
    assert run.learned

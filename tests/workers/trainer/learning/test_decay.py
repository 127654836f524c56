"""Tests for settings that decay during training, such as the entropy weight."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import A3cConfig, Ga3cConfig, PaacConfig
from arcadia_workers.trainer.learning.returns import decayed
from arcadia_workers.trainer.methods.asynchronous import a3c
from arcadia_workers.trainer.methods.ga3c.experiences import Experiences, Submission
from arcadia_workers.trainer.methods.ga3c.model import Model, TrainingBatch
from arcadia_workers.trainer.methods.paac import paac
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.run.run import NullRun

# Both are 0.4 halfway through training.
CONSTANT, HALVED = {"entropy_cost": 0.4}, {"entropy_cost": 0.8, "entropy_cost_decay": "linear"}


def test_a_setting_decays_linearly_late_or_not_at_all() -> None:
    assert [decayed(0.2, "linear", step, 100) for step in (0, 50, 100, 120)] == [0.2, 0.1, 0.0, 0.0]
    late = [decayed(0.2, "late", step, 300) for step in (0, 200, 250, 300, 301)]
    assert late == pytest.approx([0.2, 0.2, 0.1, 0.0, 0.0])
    assert decayed(0.2, "none", 100, 100) == 0.2


def after_paac(**fields: object) -> Tensor:
    """Train for two updates, one halfway and one at the end, where the learning rate is 0."""
    run = NullRun()
    rollouts = {"num_envs": 2, "t_max": 5, "total_steps": 20}
    paac.train(PaacConfig.model_validate({"env": "CartPole-v1", **rollouts, **fields}), run)
    return run.saved[-1].tensors["network.policy.weight"]


def after_a3c(**fields: object) -> Tensor:
    """Train for two updates, one halfway and one at the end, where the learning rate is 0."""
    run = NullRun()
    rollouts = {"num_actors": 1, "t_max": 5, "total_steps": 10}
    a3c.train(A3cConfig.model_validate({"env": "CartPole-v1", **rollouts, **fields}), run)
    return run.saved[-1].tensors["network.policy.weight"]


def after_ga3c(**fields: object) -> Tensor:
    """Update a model that is halfway through its training."""
    config = Ga3cConfig.model_validate({"env": "CartPole-v1", "num_agents": 1, "total_steps": 10, **fields})
    torch.manual_seed(1)
    network = networks.build(config, (4,), Discrete(2))
    model = Model(config, network, torch.device("cpu"))
    model.step = 5
    experiences = Experiences.allocate(config, 1, (4,), 2)
    for tensor in (experiences.states, experiences.actions, experiences.returns, experiences.versions):
        tensor.fill_(1)
    batch = TrainingBatch(experiences, config)
    batch.add(Submission(first_row=0, length=5, episode_return=0.0, episode_length=0))
    model.train(batch)
    return network.policy.weight.detach()


@pytest.mark.parametrize("trained", [after_paac, after_a3c, after_ga3c])
def test_an_update_uses_the_current_entropy_weight(
    trained: Callable[..., Tensor],
) -> None:
    constant, halved = trained(**CONSTANT), trained(**HALVED)
    assert torch.equal(halved, constant)
    assert not torch.equal(trained(entropy_cost=0.8), constant)

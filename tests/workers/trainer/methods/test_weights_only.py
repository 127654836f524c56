"""Every method continues from the weights of a network alone. For Gorila, see gorila/test_train.py."""

from typing import Any

import pytest
import torch

from arcadia_workers.contract.config import config_adapter
from arcadia_workers.contract.layout import WEIGHTS_ONLY
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun, TrainingState

SMALL: dict[str, Any] = {"env": "CartPole-v1", "device": "cpu", "total_steps": 50_000}


def stripped(state: TrainingState) -> TrainingState:
    """Return a state with only the weights of the network."""
    tensors = {name: tensor for name, tensor in state.tensors.items() if name.startswith("network.")}
    return TrainingState(state.step, state.frames, tensors, {**state.facts, WEIGHTS_ONLY: True})


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "paac", "num_envs": 4},
        {"algorithm": "paac_q", "num_envs": 4},
        {"algorithm": "ppo", "num_envs": 4},
        {"algorithm": "ga3c", "num_agents": 2},
        {"algorithm": "a3c", "num_actors": 2},
        {"algorithm": "n_step_q", "num_actors": 2},
    ],
    ids=lambda settings: str(settings["algorithm"]),
)
def test_a_method_continues_from_the_weights_alone(settings: dict[str, Any]) -> None:
    config = config_adapter.validate_python({**SMALL, **settings})
    train = TRAINERS[config.algorithm].train
    first = NullRun(stop_at_step=100)
    train(config, first)
    saved = stripped(first.saved[-1])

    stopped = NullRun(restored=saved, stop_at_step=saved.step, step=saved.step)
    train(config, stopped)  # stopped at once: saves the restored state
    again = stopped.saved[-1]
    assert again.step == saved.step
    for name, tensor in saved.tensors.items():
        assert torch.equal(again.tensors[name], tensor), name
    if "target.values" in again.tensors:
        network = torch.cat([tensor.flatten() for tensor in saved.component("network").values()])
        assert torch.equal(again.tensors["target.values"], network)
    assert not again.has_only_weights

    continued = NullRun(restored=saved, stop_at_step=saved.step + 100, step=saved.step)
    train(config, continued)
    assert continued.saved[-1].step >= saved.step + 100

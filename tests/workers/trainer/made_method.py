"""A method for tests that keeps its initial weights. It is registered like any other method."""

from typing import ClassVar, Literal

import pytest
import torch
from pydantic import ConfigDict, Field

from arcadia_workers.contract.config import CONFIGURATIONS, TrainingConfig
from arcadia_workers.contract.games import ActionKind
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.host.memory import Need
from arcadia_workers.trainer.methods import TRAINERS, trainer
from arcadia_workers.trainer.methods.trainer import Trainer
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.run.run import TrainingRun, TrainingState


class StillConfig(TrainingConfig):
    """The configuration of a method that never changes its weights."""

    model_config = ConfigDict(title="Still")

    algorithm: Literal["still"] = Field(default="still", title="Algorithm", description="The method.")
    env: str = "Arcadia/Catch-v0"
    total_steps: int = 10

    action_kinds: ClassVar[tuple[ActionKind, ...]] = ("discrete", "continuous")


def train(config: StillConfig, run: TrainingRun) -> None:
    """Save the initial weights as the result of all steps."""
    network = networks.build(config, *own_environment.interface(config))
    run.advance(config.total_steps, config.total_steps)
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    run.save(TrainingState(config.total_steps, config.total_steps, tensors))


def needs(config: StillConfig, _device: torch.device) -> list[Need]:
    """Return a tiny memory need."""
    return [Need("the network", 1000.0, "hidden_units")] if config.total_steps else []


STILL = Trainer(config=StillConfig, train=train, needs=needs, load_network=trainer.load_policy)


def register(monkeypatch: pytest.MonkeyPatch, method: Trainer[StillConfig] = STILL) -> None:
    """Add the method to both halves of the registry until the test ends."""
    monkeypatch.setitem(CONFIGURATIONS, method.algorithm, method.config)
    monkeypatch.setitem(TRAINERS, method.algorithm, method)

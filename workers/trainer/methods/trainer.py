"""Trainer half of a method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch

from workers.contract.config import TrainingConfig
from workers.contract.spaces import ActionSpace
from workers.trainer.host.memory import Need
from workers.trainer.methods.trained_networks import TrainedNetwork
from workers.trainer.run.run import TrainingRun, TrainingState

Config = TypeVar("Config", bound=TrainingConfig)


@dataclass(frozen=True)
class Trainer(Generic[Config]):
    """Functions that train one method. All are required, so the type checker reports what a new method lacks."""

    config: type[Config]
    # Train until the run ends or should stop, and save.
    train: Callable[[Config, TrainingRun], None]
    # A lower bound of the host memory that training needs at its peak.
    needs: Callable[[Config, torch.device], list[Need]]
    # Build the network of a checkpoint from the shape of observations, the actions and the checkpoint.
    load_network: Callable[[Config, tuple[int, ...], ActionSpace, TrainingState], TrainedNetwork]

    @property
    def algorithm(self) -> str:
        """The value of the configuration's field `algorithm`."""
        return str(self.config.model_fields["algorithm"].default)

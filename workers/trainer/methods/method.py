"""What the trainer asks about a method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch

from workers.contract.config import TrainingConfig
from workers.contract.spaces import ActionSpace
from workers.trainer.host.memory import Need
from workers.trainer.methods.players import Player
from workers.trainer.run.run import Run, TrainingState

Config = TypeVar("Config", bound=TrainingConfig)


@dataclass(frozen=True)
class Method(Generic[Config]):
    """One method; every field is required, so a type checker finds what a new method forgets."""

    # The configuration that names it; what the backend asks too stands there.
    config: type[Config]
    # Train until the run ends or shall stop, and save.
    train: Callable[[Config, Run], None]
    # What training will hold in the host's memory at its busiest moment, estimated from below.
    needs: Callable[[Config, torch.device], list[Need]]
    # Make the player of a checkpoint, from the shape of observations, the actions and the checkpoint.
    player: Callable[[Config, tuple[int, ...], ActionSpace, TrainingState], Player]

    @property
    def algorithm(self) -> str:
        """The name by which a configuration asks for it."""
        return str(self.config.model_fields["algorithm"].default)

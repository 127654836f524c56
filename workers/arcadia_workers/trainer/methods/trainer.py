"""Trainer half of a method, and the networks of its checkpoints."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from arcadia_workers.contract.action_names import ActionSpace
from arcadia_workers.contract.config import ActionValueConfig, TrainingConfig
from arcadia_workers.trainer.host.memory import Need
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.agents import Agent, Memory
from arcadia_workers.trainer.networks.networks import ActionValues, ActorCritic
from arcadia_workers.trainer.run.checkpoints import CheckpointError
from arcadia_workers.trainer.run.run import TrainingRun, TrainingState

Network = TypeVar("Network", bound=nn.Module)

Action = int | NDArray[np.float32]
"""The index of a discrete action, or the vector of a continuous one."""

# policy: the outputs of a policy's head. values: Q(s, a) of each action.
OutputKind = Literal["policy", "values"]


@dataclass(frozen=True)
class NetworkOutput:
    """Outputs of a network with one row per state: the numbers of its head, and V(s) or the highest Q(s, a)."""

    numbers: Tensor
    values: Tensor


class TrainedNetwork(Protocol):
    """Network that plays several episodes side by side."""

    @property
    def output_kind(self) -> OutputKind:
        """The meaning of the network's numbers."""
        ...

    def initial_memory(self, episodes: int) -> Memory:
        """Return the memory at the start of `episodes` episodes, one row each."""
        ...

    def predict(self, observations: Tensor, memory: Memory) -> tuple[NetworkOutput, Memory]:
        """Return the network's output and the new memory, one row per episode."""
        ...


class TrainedPolicy:
    """Trained actor-critic without memory."""

    output_kind: OutputKind = "policy"

    def __init__(self, network: ActorCritic) -> None:
        self._network = network

    def initial_memory(self, episodes: int) -> Memory:  # noqa: ARG002
        return ()

    @torch.no_grad()
    def predict(self, observations: Tensor, memory: Memory) -> tuple[NetworkOutput, Memory]:
        return NetworkOutput(*self._network(observations)), memory


class TrainedAgent:
    """Trained actor-critic that may have an LSTM."""

    output_kind: OutputKind = "policy"

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def initial_memory(self, episodes: int) -> Memory:
        return tuple((h.repeat(episodes, 1), c.repeat(episodes, 1)) for h, c in self._agent.blank)

    @torch.no_grad()
    def predict(self, observations: Tensor, memory: Memory) -> tuple[NetworkOutput, Memory]:
        numbers, values, memory = self._agent.step(observations, memory)
        return NetworkOutput(numbers, values), memory


class TrainedActionValues:
    """Trained network of action values."""

    output_kind: OutputKind = "values"

    def __init__(self, network: ActionValues) -> None:
        self._network = network

    def initial_memory(self, episodes: int) -> Memory:  # noqa: ARG002
        return ()

    @torch.no_grad()
    def predict(self, observations: Tensor, memory: Memory) -> tuple[NetworkOutput, Memory]:
        numbers = self._network(observations)
        return NetworkOutput(numbers, numbers.amax(dim=-1)), memory


def load_policy(
    config: TrainingConfig, observation_shape: tuple[int, ...], actions: ActionSpace, state: TrainingState
) -> TrainedPolicy:
    """Build an actor-critic with a checkpoint's weights."""
    return TrainedPolicy(load_weights(networks.build(config, observation_shape, actions), state))


def load_action_values(
    config: ActionValueConfig, observation_shape: tuple[int, ...], actions: ActionSpace, state: TrainingState
) -> TrainedActionValues:
    """Build a network of action values with a checkpoint's weights."""
    return TrainedActionValues(load_weights(networks.build_action_values(config, observation_shape, actions), state))


def load_weights(network: Network, state: TrainingState) -> Network:
    """Load a checkpoint's weights into a network."""
    try:
        network.load_state_dict(state.component("network"))
    except RuntimeError as error:
        raise CheckpointError(
            f"the checkpoint of step {state.step:,} has weights that do not fit the network of its configuration: "
            "choose another one"
        ) from error
    return network


def action_of(batch: Tensor) -> Action:
    """Return the only action of a batch."""
    return int(batch) if batch.dtype is torch.int64 else np.asarray(batch[0], dtype=np.float32)


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

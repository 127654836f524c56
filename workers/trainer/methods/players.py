"""Players load a checkpoint's weights and tell what its network says of what it sees."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.contract.config import ActionValueConfig, TrainingConfig
from workers.contract.spaces import ActionSpace
from workers.trainer.networks import networks
from workers.trainer.networks.agents import Agent, Memory
from workers.trainer.networks.networks import ActionValues, ActorCritic
from workers.trainer.run.checkpoints import CheckpointError
from workers.trainer.run.run import TrainingState

Network = TypeVar("Network", bound=nn.Module)

Action = int | NDArray[np.float32]
"""The number of a discrete action, or the numbers of a continuous one."""


# policy: the numbers of a policy's head. values: Q(s, a) of each action.
Learnt = Literal["policy", "values"]


@dataclass(frozen=True)
class Thoughts:
    """What a network says of some states, a row for each: its numbers, and V(s) or the greatest Q(s, a)."""

    numbers: Tensor
    values: Tensor


class Player(Protocol):
    """Tells what a network says of several episodes that are played side by side."""

    @property
    def learnt(self) -> Learnt:
        """What the network's numbers are."""
        ...

    def memory_of(self, episodes: int) -> Memory:
        """Return the memory with which so many episodes begin, a row each."""
        ...

    def think(self, observations: Tensor, memory: Memory) -> tuple[Thoughts, Memory]:
        """Return what the network says and the new memory, a row for each episode."""
        ...


class PolicyPlayer:
    """Tells what an actor-critic says."""

    learnt: Learnt = "policy"

    def __init__(self, network: ActorCritic) -> None:
        self._network = network

    def memory_of(self, episodes: int) -> Memory:  # noqa: ARG002
        return ()

    @torch.no_grad()
    def think(self, observations: Tensor, memory: Memory) -> tuple[Thoughts, Memory]:
        return Thoughts(*self._network(observations)), memory


class AgentPlayer:
    """Tells what an agent says, whose LSTM may remember the episode."""

    learnt: Learnt = "policy"

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def memory_of(self, episodes: int) -> Memory:
        return tuple((h.repeat(episodes, 1), c.repeat(episodes, 1)) for h, c in self._agent.blank)

    @torch.no_grad()
    def think(self, observations: Tensor, memory: Memory) -> tuple[Thoughts, Memory]:
        numbers, values, memory = self._agent.step(observations, memory)
        return Thoughts(numbers, values), memory


class ValuePlayer:
    """Tells the action values that a network has learnt."""

    learnt: Learnt = "values"

    def __init__(self, network: ActionValues) -> None:
        self._network = network

    def memory_of(self, episodes: int) -> Memory:  # noqa: ARG002
        return ()

    @torch.no_grad()
    def think(self, observations: Tensor, memory: Memory) -> tuple[Thoughts, Memory]:
        numbers = self._network(observations)
        return Thoughts(numbers, numbers.amax(dim=-1)), memory


def play_policy(
    config: TrainingConfig, observation_shape: tuple[int, ...], actions: ActionSpace, state: TrainingState
) -> PolicyPlayer:
    """Play a checkpoint of an actor-critic."""
    return PolicyPlayer(restored(networks.build(config, observation_shape, actions), state))


def play_values(
    config: ActionValueConfig, observation_shape: tuple[int, ...], actions: ActionSpace, state: TrainingState
) -> ValuePlayer:
    """Play a checkpoint of a method that learns action values."""
    return ValuePlayer(restored(networks.build_action_values(config, observation_shape, actions), state))


def restored(network: Network, state: TrainingState) -> Network:
    """Give a network the weights of a checkpoint."""
    try:
        network.load_state_dict(state.component("network"))
    except RuntimeError as error:
        raise CheckpointError(
            f"the checkpoint of step {state.step:,} has weights that do not fit the network of its configuration: "
            "choose another one"
        ) from error
    return network


def action_of(batch: Tensor) -> Action:
    """Return the action of a batch of one."""
    return int(batch) if batch.dtype is torch.int64 else np.asarray(batch[0], dtype=np.float32)

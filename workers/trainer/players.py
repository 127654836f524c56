"""Plays as a method does, from the weights of its checkpoint to one action after another."""

from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from workers.trainer import agents, networks
from workers.trainer.agents import Agent
from workers.trainer.config import A3cConfig, GorilaConfig, RunConfig, ValueBasedFields
from workers.trainer.environments import Observations
from workers.trainer.exploration import EpsilonGreedy
from workers.trainer.networks import ActionValues, ActorCritic
from workers.trainer.playback import Action, Stage
from workers.trainer.policies import Policy, policy_over
from workers.trainer.run import TrainingState

Network = TypeVar("Network", bound=nn.Module)


class Player(Protocol):
    """Chooses the actions of one episode."""

    def act(self, observation: Observations) -> Action:
        """Choose what to do."""
        ...


class PolicyPlayer:
    """Draws its actions from the policy, as in training."""

    def __init__(self, network: ActorCritic, policy: Policy) -> None:
        self._network, self._policy = network, policy

    @torch.no_grad()
    def act(self, observation: Observations) -> Action:
        numbers, _ = self._network(_batch(observation))
        return _action(self._policy.sample(numbers))


class AgentPlayer:
    """A3C's agent, which may remember the episode so far."""

    def __init__(self, agent: Agent, policy: Policy) -> None:
        self._agent, self._policy, self._memory = agent, policy, agent.blank

    @torch.no_grad()
    def act(self, observation: Observations) -> Action:
        numbers, _, self._memory = self._agent(_batch(observation), self._memory)
        return _action(self._policy.sample(numbers))


class ValuePlayer:
    """Takes the action of the highest value, and as often a random one as the most careful of the run's actors."""

    def __init__(self, network: ActionValues, epsilon: float, seed: int) -> None:
        self._network = network
        self._explore = EpsilonGreedy(np.array([epsilon]), anneal_frames=0, seed=seed, device=torch.device("cpu"))

    @torch.no_grad()
    def act(self, observation: Observations) -> Action:
        return _action(self._explore(self._network(_batch(observation))))


def player_of(config: RunConfig, stage: Stage, state: TrainingState, seed: int) -> Player:
    """Make the player of a checkpoint."""
    shape, actions = stage.observation_shape, stage.actions
    if isinstance(config, ValueBasedFields | GorilaConfig):
        values = _restored(networks.build_action_values(config, shape, actions), state)
        careful = config.final_epsilon if isinstance(config, GorilaConfig) else min(config.final_epsilons)
        return ValuePlayer(values, careful, seed)
    policy = policy_over(actions, torch.Generator().manual_seed(seed))
    if isinstance(config, A3cConfig):
        return AgentPlayer(_restored(agents.build(config, shape, actions), state), policy)
    return PolicyPlayer(_restored(networks.build(config, shape, actions), state), policy)


def _restored(network: Network, state: TrainingState) -> Network:
    network.load_state_dict(state.part("network"))
    return network


def _batch(observation: Observations) -> Tensor:
    return torch.from_numpy(observation).unsqueeze(0)


def _action(batch: Tensor) -> Action:
    return int(batch) if batch.dtype is torch.int64 else np.asarray(batch[0], dtype=np.float32)

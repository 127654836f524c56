"""The agent: A3C's networks (Mnih et al. 2016) with the paper's Gaussian policy (Schulman et al. 2017, section 6.1)."""

import torch
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import PpoConfig
from arcadia_workers.trainer.methods.trainer import TrainedAgent, load_weights
from arcadia_workers.trainer.networks.agents import Agent, GaussianHead
from arcadia_workers.trainer.networks.bodies import ReadingsFilter, VectorBody, build_body
from arcadia_workers.trainer.networks.gradients import initialized
from arcadia_workers.trainer.run.run import TrainingState

# Normalized readings are at most this far from their mean, as in OpenAI's code.
READINGS_LIMIT = 5.0


def build(
    config: PpoConfig, observation_shape: tuple[int, ...], actions: ActionSpace, dtype: torch.dtype = torch.float32
) -> Agent:
    """Build the run's agent with fresh weights."""
    bodies = [build_body(config, observation_shape) for _ in range(2 if config.separate_networks else 1)]
    for body in bodies:
        if isinstance(body, VectorBody) and config.normalize_observations:
            body.filter = ReadingsFilter(observation_shape, READINGS_LIMIT)
    agent = Agent(bodies, config.lstm_units, actions, dtype)
    if isinstance(actions, Continuous):
        agent.policy = GaussianHead(agent.policy.in_features, actions.size)
    return initialized(agent, config)


def load_network(
    config: PpoConfig, observation_shape: tuple[int, ...], actions: ActionSpace, state: TrainingState
) -> TrainedAgent:
    """Build the agent with a checkpoint's weights."""
    return TrainedAgent(load_weights(build(config, observation_shape, actions), state))


def see_readings(agent: Agent, states: Tensor) -> None:
    """Add a rollout's observations to the statistics that normalize them."""
    for body in agent.trunks:
        if isinstance(body, VectorBody) and isinstance(body.filter, ReadingsFilter):
            body.filter.see(states)

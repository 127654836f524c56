"""Helpers that make checkpoints of untrained networks that choose different actions."""

from pathlib import Path

import torch

from arcadia_workers.contract.config import A3cConfig, ActionValueConfig, RunConfig
from arcadia_workers.contract.protocols import EvaluationProtocol
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.games import subjects
from arcadia_workers.trainer.games.subjects import Subject
from arcadia_workers.trainer.networks import agents, networks
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.run import TrainingState, prefixed


def write(directory: Path, config: RunConfig, step: int = 5) -> str:
    """Write a checkpoint of an untrained network and return its file."""
    return checkpoints.write(directory, state(config, step), config, {}).file


def state(config: RunConfig, step: int = 5) -> TrainingState:
    """Return the training state of an untrained network."""
    torch.manual_seed(0)
    shape, actions = own_environment.interface(config)
    network: torch.nn.Module
    if isinstance(config, A3cConfig):
        network = agents.build(config, shape, actions)
    elif isinstance(config, ActionValueConfig):
        network = networks.build_action_values(config, shape, actions)
    else:
        network = networks.build(config, shape, actions)
    # The outputs of an untrained network are nearly equal in all states. Larger weights make them differ.
    tensors = {name: 3 * tensor for name, tensor in network.state_dict().items()}
    return TrainingState(step, 4 * step, prefixed("network", tensors))


def subject(directory: Path, config: RunConfig, protocol: EvaluationProtocol, acting: Acting | None = None) -> Subject:
    """Return the agent of an untrained network."""
    write(directory, config)
    return subjects.agent_subject(*subjects.read(directory, None), protocol, acting)


def shape(config: RunConfig) -> tuple[int, ...]:
    """Return the shape of the agent's observations."""
    seen, _ = own_environment.interface(config)
    return seen

"""Checkpoints of fresh networks, with weights that make them act."""

from pathlib import Path

import torch

from workers.contract.config import A3cConfig, ActionValueConfig, RunConfig
from workers.contract.protocols import EvaluationProtocol
from workers.contract.protocols.acting import Acting
from workers.trainer.environments import own_environment
from workers.trainer.games import subjects
from workers.trainer.games.subjects import Subject
from workers.trainer.networks import agents, networks
from workers.trainer.run import checkpoints
from workers.trainer.run.run import TrainingState, prefixed


def write(directory: Path, config: RunConfig, step: int = 5) -> str:
    """Write a checkpoint of a fresh network and return its file."""
    return checkpoints.write(directory, state(config, step), config, {}).file


def state(config: RunConfig, step: int = 5) -> TrainingState:
    """Return what a checkpoint of a fresh network holds."""
    torch.manual_seed(0)
    shape, actions = own_environment.interface(config)
    network: torch.nn.Module
    if isinstance(config, A3cConfig):
        network = agents.build(config, shape, actions)
    elif isinstance(config, ActionValueConfig):
        network = networks.build_action_values(config, shape, actions)
    else:
        network = networks.build(config, shape, actions)
    # A fresh network says nearly the same of every state; this one does not.
    tensors = {name: 3 * tensor for name, tensor in network.state_dict().items()}
    return TrainingState(step, 4 * step, prefixed("network", tensors))


def subject(directory: Path, config: RunConfig, protocol: EvaluationProtocol, acting: Acting | None = None) -> Subject:
    """Return the agent of a fresh network."""
    write(directory, config)
    return subjects.agent_subject(*subjects.read(directory, None), protocol, acting)


def shape(config: RunConfig) -> tuple[int, ...]:
    """Return the shape of what the run's agent sees."""
    seen, _ = own_environment.interface(config)
    return seen

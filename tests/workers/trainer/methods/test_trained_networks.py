"""Tests that every method's checkpoint can be played and gives the outputs of its network."""

import pytest
import torch
from torch import Tensor, nn

from arcadia_workers.contract.config import (
    A3cConfig,
    ActionValueConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
    PaacConfig,
    PaacQConfig,
    PpoConfig,
    TrainingConfig,
)
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.methods.ppo import network as ppo_network
from arcadia_workers.trainer.methods.trainer import TrainedNetwork
from arcadia_workers.trainer.networks import agents, networks
from arcadia_workers.trainer.run.run import TrainingState

CATCH, TARGET = "Arcadia/Catch-v0", "Arcadia/Target-v0"
EVERY_KIND: list[TrainingConfig] = [
    PaacConfig(env=CATCH),
    PaacQConfig(env=CATCH),
    OneStepQConfig(env=CATCH),
    OneStepSarsaConfig(env=CATCH),
    NStepQConfig(env=CATCH),
    Ga3cConfig(env=CATCH),
    GorilaConfig(env=CATCH),
    GorilaConfig(env=CATCH, dueling=True),
    PpoConfig(env=CATCH, lstm_units=8, minibatch_size=128),
    PpoConfig(env=TARGET, normalize_observations=True),
    A3cConfig(env=CATCH),
    A3cConfig(env=CATCH, lstm_units=8),
    A3cConfig(env=TARGET),
    A3cConfig(env=TARGET, lstm_units=8),
]


def checkpoint_of(network: nn.Module) -> TrainingState:
    """Return a checkpoint with the state that a method saves of its network."""
    return TrainingState(0, 0, {f"network.{name}": tensor for name, tensor in network.state_dict().items()})


def fresh_network(config: TrainingConfig) -> tuple[nn.Module, TrainedNetwork]:
    """Return the untrained network of a method and the player of its checkpoint."""
    shape, actions = own_environment.interface(config)
    torch.manual_seed(0)
    network: nn.Module
    if isinstance(config, A3cConfig):
        network = agents.build(config, shape, actions)
    elif isinstance(config, PpoConfig):
        network = ppo_network.build(config, shape, actions)
    elif isinstance(config, PaacConfig | Ga3cConfig):
        network = networks.build(config, shape, actions)
    else:
        assert isinstance(config, ActionValueConfig)
        network = networks.build_action_values(config, shape, actions)
    return network, TRAINERS[config.algorithm].load_network(config, shape, actions, checkpoint_of(network))


def observations_of(config: TrainingConfig, steps: int) -> Tensor:
    """Return a number of states of three episodes."""
    shape, _ = own_environment.interface(config)
    return torch.randn(steps, 3, *shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("config", EVERY_KIND, ids=lambda config: f"{config.algorithm}-{config.env[8:12]}")
def test_every_methods_player_gives_the_outputs_of_its_network(config: TrainingConfig) -> None:
    network, player = fresh_network(config)
    seen, memory = observations_of(config, 4), player.initial_memory(3)
    reported = []
    for observations in seen:
        output, memory = player.predict(observations, memory)
        reported.append(output)
    with torch.no_grad():
        for episode in range(3):
            if isinstance(config, A3cConfig | PpoConfig):
                numbers, values, _ = network(seen[:, episode], network.blank)
            elif isinstance(config, ActionValueConfig):
                numbers = network(seen[:, episode])
                values = numbers.max(dim=-1).values
            else:
                numbers, values = network(seen[:, episode])
            assert torch.allclose(torch.stack([t.numbers[episode] for t in reported]), numbers, atol=1e-6)
            assert torch.allclose(torch.stack([t.values[episode] for t in reported]), values, atol=1e-6)
    assert player.output_kind == ("values" if isinstance(config, ActionValueConfig) else "policy")

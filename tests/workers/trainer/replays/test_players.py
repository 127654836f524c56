"""Every method's checkpoint can be played, and acts as the method does."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from workers.contract.config import (
    A3cConfig,
    ActionValueConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
    PaacConfig,
    PaacQConfig,
    TrainingConfig,
)
from workers.trainer.learning.policies import Gaussian
from workers.trainer.methods import METHODS
from workers.trainer.networks import agents, networks
from workers.trainer.replays import playback
from workers.trainer.replays.playback import Stage
from workers.trainer.replays.players import Player
from workers.trainer.run.run import TrainingState

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
    A3cConfig(env=CATCH),
    A3cConfig(env=CATCH, lstm_units=8),
    A3cConfig(env=TARGET),
    A3cConfig(env=TARGET, lstm_units=8),
]


def checkpoint_of(network: nn.Module) -> TrainingState:
    """Return what a method saves of its network."""
    return TrainingState(0, 0, {f"network.{name}": tensor for name, tensor in network.state_dict().items()})


def fresh_network(config: TrainingConfig, stage: Stage) -> nn.Module:
    """Make the untrained network of a method."""
    torch.manual_seed(0)
    if isinstance(config, A3cConfig):
        return agents.build(config, stage.observation_shape, stage.actions)
    if isinstance(config, PaacConfig | Ga3cConfig):
        return networks.build(config, stage.observation_shape, stage.actions)
    assert isinstance(config, ActionValueConfig)
    return networks.build_action_values(config, stage.observation_shape, stage.actions)


def player_of(config: TrainingConfig, stage: Stage, network: nn.Module, seed: int = 1) -> Player:
    """Make the player of a method's checkpoint."""
    method = METHODS[config.algorithm]
    return method.player(config, stage.observation_shape, stage.actions, checkpoint_of(network), seed)


def played(config: TrainingConfig, seed: int = 1) -> list[NDArray[np.float64]]:
    """Return the actions of one episode."""
    stage = playback.open_stage(config, seed)
    player = player_of(config, stage, fresh_network(config, stage), seed)
    seen, actions = stage.reset(), []
    while not seen.over:
        action = player.act(seen.observation)
        actions.append(np.asarray(action, dtype=np.float64))
        seen = stage.step(action)
    stage.close()
    return actions


@pytest.mark.parametrize("config", EVERY_KIND, ids=lambda config: f"{config.algorithm}-{config.env[8:12]}")
def test_every_method_plays_an_episode_and_repeats_it(config: TrainingConfig) -> None:
    actions = played(config)
    assert actions
    assert np.array_equal(actions, played(config))
    expected = (2,) if config.env == TARGET else ()
    assert actions[0].shape == expected


def value_player(final_epsilons: tuple[float, ...]) -> tuple[Player, Stage, nn.Module]:
    config = PaacQConfig(
        env=CATCH, final_epsilons=final_epsilons, final_epsilon_probabilities=(1.0, *[0.0] * (len(final_epsilons) - 1))
    )
    stage = playback.open_stage(config, 1)
    network = fresh_network(config, stage)
    return player_of(config, stage, network), stage, network


def test_a_value_player_takes_the_best_action_except_with_the_smallest_epsilon() -> None:
    careful, stage, network = value_player((0.5, 0.0))
    observation = stage.reset().observation
    with torch.no_grad():
        best = int(network(torch.from_numpy(observation).unsqueeze(0)).argmax())
    assert {careful.act(observation) for _ in range(100)} == {best}
    reckless, stage, _ = value_player((1.0,))
    assert {reckless.act(observation) for _ in range(100)} == {0, 1, 2}


def test_an_agent_with_cells_remembers_the_episode() -> None:
    config = A3cConfig(env=CATCH, lstm_units=8)
    stage = playback.open_stage(config, 1)
    agent = fresh_network(config, stage)
    assert isinstance(agent, agents.Agent)
    player = player_of(config, stage, agent)
    observations = [stage.reset().observation] + [stage.step(0).observation for _ in range(4)]
    for observation in observations:
        player.act(observation)
    with torch.no_grad():
        _, _, memory = agent(torch.from_numpy(np.stack(observations)), agent.blank)
    assert torch.allclose(player._memory[0][0], memory[0][0], atol=1e-6)  # type: ignore[attr-defined]


def test_continuous_actions_have_the_policys_variance() -> None:
    config = A3cConfig(env=TARGET)
    stage = playback.open_stage(config, 1)
    agent = fresh_network(config, stage)
    player = player_of(config, stage, agent)
    observation = stage.reset().observation
    actions = np.array([player.act(observation) for _ in range(4000)])
    with torch.no_grad():
        numbers, _, _ = agent(torch.from_numpy(observation).unsqueeze(0), ())
    mean, variance = Gaussian._mean_and_variance(numbers)
    assert np.allclose(actions.mean(axis=0), mean[0], atol=4 * float(variance.sqrt()) / 4000**0.5)
    assert np.allclose(actions.var(axis=0), float(variance), rtol=0.1)

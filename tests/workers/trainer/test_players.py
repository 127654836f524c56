"""Every method's checkpoint can be played, as the method itself acts."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from workers.trainer import agents, networks, playback
from workers.trainer.config import (
    A3cConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
    PaacConfig,
    PaacQConfig,
    RunConfig,
)
from workers.trainer.playback import Stage
from workers.trainer.players import Player, player_of
from workers.trainer.policies import Gaussian
from workers.trainer.run import TrainingState

CATCH, TARGET = "Arcadia/Catch-v0", "Arcadia/Target-v0"
METHODS: list[RunConfig] = [
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
    """What a method saves of its network."""
    return TrainingState(0, 0, {f"network.{name}": tensor for name, tensor in network.state_dict().items()})


def fresh_network(config: RunConfig, stage: Stage) -> nn.Module:
    """The untrained network of a method."""
    torch.manual_seed(0)
    if isinstance(config, A3cConfig):
        return agents.build(config, stage.observation_shape, stage.actions)
    if isinstance(config, PaacConfig | Ga3cConfig):
        return networks.build(config, stage.observation_shape, stage.actions)
    return networks.build_action_values(config, stage.observation_shape, stage.actions)


def played(config: RunConfig, seed: int = 1) -> list[NDArray[np.float64]]:
    """The actions of one episode."""
    stage = playback.open_stage(config, seed)
    player = player_of(config, stage, checkpoint_of(fresh_network(config, stage)), seed)
    seen, actions = stage.reset(), []
    while not seen.over:
        action = player.act(seen.observation)
        actions.append(np.asarray(action, dtype=np.float64))
        seen = stage.step(action)
    stage.close()
    return actions


@pytest.mark.parametrize("config", METHODS, ids=lambda config: f"{config.algorithm}-{config.env[8:12]}")
def test_every_method_plays_an_episode_and_repeats_it(config: RunConfig) -> None:
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
    return player_of(config, stage, checkpoint_of(network), 1), stage, network


def test_values_are_followed_but_for_the_smallest_epsilon() -> None:
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
    player = player_of(config, stage, checkpoint_of(agent), 1)
    observations = [stage.reset().observation] + [stage.step(0).observation for _ in range(4)]
    for observation in observations:
        player.act(observation)
    with torch.no_grad():
        _, _, memory = agent(torch.from_numpy(np.stack(observations)), agent.blank)
    assert torch.allclose(player._memory[0][0], memory[0][0], atol=1e-6)  # type: ignore[attr-defined]


def test_continuous_actions_spread_as_the_policy_says() -> None:
    config = A3cConfig(env=TARGET)
    stage = playback.open_stage(config, 1)
    agent = fresh_network(config, stage)
    player = player_of(config, stage, checkpoint_of(agent), 1)
    observation = stage.reset().observation
    actions = np.array([player.act(observation) for _ in range(4000)])
    with torch.no_grad():
        numbers, _, _ = agent(torch.from_numpy(observation).unsqueeze(0), ())
    mean, variance = Gaussian._parts(numbers)
    assert np.allclose(actions.mean(axis=0), mean[0], atol=4 * float(variance.sqrt()) / 4000**0.5)
    assert np.allclose(actions.var(axis=0), float(variance), rtol=0.1)

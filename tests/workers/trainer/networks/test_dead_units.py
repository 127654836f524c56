"""Tests for counting dead units per layer and measuring values over states, in every kind of network."""

import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import A3cConfig, GorilaConfig, PaacConfig, TrainingConfig
from arcadia_workers.trainer.networks import agents, networks
from arcadia_workers.trainer.networks.agents import Agent
from arcadia_workers.trainer.networks.lstm import Lstm
from arcadia_workers.trainer.networks.networks import (
    STATES,
    ActionValues,
    ActorCritic,
    NetworkWatch,
    StateSample,
    measured,
)

PIXELS = (4, 84, 84)


def screens(number: int) -> Tensor:
    random = torch.Generator().manual_seed(0)
    return torch.randint(256, (number, *PIXELS), dtype=torch.uint8, generator=random)


def network_of(config: TrainingConfig, shape: tuple[int, ...] = PIXELS) -> ActorCritic | ActionValues | Agent:
    torch.manual_seed(0)
    if isinstance(config, A3cConfig):
        return agents.build(config, shape, Discrete(3))
    if isinstance(config, GorilaConfig):
        return networks.build_action_values(config, shape, Discrete(3))
    return networks.build(config, shape, Discrete(3))


@torch.no_grad()
def kill(network: ActorCritic | ActionValues | Agent, layer: str, units: int) -> None:
    """Permanently disable units of a layer of the last trunk."""
    parameters = dict(network.trunks[-1].named_parameters())
    parameters[f"{layer}.bias"][:units] = -1e6


@pytest.mark.parametrize(
    "config",
    [PaacConfig(), A3cConfig(), A3cConfig(lstm_units=16), GorilaConfig(), GorilaConfig(dueling=True)],
    ids=["PAAC", "A3C", "A3C with memory", "Gorila", "dueling"],
)
def test_the_dead_units_of_each_layer_are_counted(config: TrainingConfig) -> None:
    network = network_of(config)
    before = measured(network, screens(3))
    kill(network, "convolutions.0", 12)
    kill(network, "convolutions.1", 32)
    after = measured(network, screens(3))

    assert before.keys() == after.keys()
    assert before["network/dead_convolution_1"] < 0.75 <= after["network/dead_convolution_1"] < 1
    assert before["network/dead_convolution_2"] < 1 == after["network/dead_convolution_2"]
    assert after["network/value_spread"] < 1e-6 < 1e-4 < before["network/value_spread"]


def test_a_filter_that_is_active_in_one_place_of_one_state_is_alive() -> None:
    network = network_of(PaacConfig())
    with torch.no_grad():
        first = dict(network.trunks[0].named_parameters())
        first["convolutions.0.weight"].fill_(1.0)
        first["convolutions.0.bias"].fill_(-0.5)
    states = torch.zeros(70, *PIXELS, dtype=torch.uint8)
    assert measured(network, states)["network/dead_convolution_1"] == 1
    states[69, 2, 40, 40] = 255
    assert measured(network, states)["network/dead_convolution_1"] == 0


def test_the_worse_of_two_trunks_is_reported() -> None:
    config = A3cConfig(env="InvertedPendulum-v5", activation="relu", hidden_layers=2)
    network = network_of(config, (4,))
    kill(network, "layers.2", 64)
    found = measured(network, torch.randn(5, 4))
    assert found["network/dead_hidden_1"] < 1 == found["network/dead_hidden_2"]


def test_cells_that_no_state_changes_are_counted_as_dead() -> None:
    network = network_of(A3cConfig(env="CartPole-v1", lstm_units=8), (4,))
    states = torch.randn(5, 4)
    assert measured(network, states)["network/dead_cells"] == 0
    bias = network.cells[0].bias.detach()
    bias[:2] = -20  # their output gates stay closed
    bias[8 + 4 : 8 + 6] = bias[24 + 4 : 24 + 6] = 20  # they always store 1 and output it:
    bias[4:6] = 20
    assert measured(network, states)["network/dead_cells"] == 0.5


def test_the_sensitivity_of_cells_equals_the_gradient_of_their_output() -> None:
    lstm, x = Lstm(3, 4), torch.randn(5, 3)
    blank = torch.zeros(5, 4)
    wanted = torch.zeros(5, 4)
    for gate in (0, 1, 3):  # o, i and g
        shift = torch.zeros(5, 4, requires_grad=True)
        shifts = [shift if part == gate else torch.zeros(5, 4) for part in range(4)]
        o, i, f, g = ((x @ lstm.weight_ih.t() + lstm.bias) + torch.cat(shifts, 1)).chunk(4, dim=1)
        h = o.sigmoid() * (f.sigmoid() * blank + i.sigmoid() * g.tanh()).tanh()
        wanted += torch.autograd.grad(h.sum(), shift)[0].abs()
    torch.testing.assert_close(lstm.sensitivity(x), wanted)


def test_saturated_units_are_not_dead() -> None:
    found = measured(network_of(PaacConfig(env="CartPole-v1"), (4,)), torch.randn(5, 4))
    assert found.keys() == {"network/value_spread"}


def numbered(first: int, number: int) -> Tensor:
    return torch.arange(first, first + number, dtype=torch.float32).unsqueeze(1).expand(number, 2)


def test_a_sample_keeps_a_few_of_the_latest_states_of_each_batch() -> None:
    sample = StateSample(torch.zeros(1, 2), rows=6)
    for first in (0, 40, 80):
        assert sample.states is None
        sample.add(numbered(first, 40))
    assert sample.states is not None
    assert sample.states[:, 0].tolist() == [0, 21, 40, 61, 80, 101]
    sample.add(numbered(120, 1))
    assert sample.states[:, 0].tolist() == [120, 21, 40, 61, 80, 101]
    sample.add(numbered(200, 1_000))
    assert sample.states[:, 0].tolist() == [120, 200, 325, 450, 575, 700]


@pytest.mark.parametrize("environments", [16, 32])
def test_a_sample_covers_several_environments_of_a_batch(environments: int) -> None:
    sample = StateSample(torch.zeros(1, 2), rows=8)
    sample.add(numbered(0, environments * 16))
    assert sample.states is not None
    assert len({int(row) % environments for row in sample.states[:, 0]}) == 8


def test_a_watch_measures_after_enough_states_and_then_waits() -> None:
    watch = NetworkWatch(network_of(PaacConfig(env="CartPole-v1"), (4,)))
    assert watch.metrics() == {}
    watch.see(torch.randn(160, 4))
    assert watch.metrics() == {}
    for _ in range(STATES // 8):
        watch.see(torch.randn(160, 4))
    assert watch.metrics().keys() == {"network/value_spread"}
    assert watch.metrics() == {}

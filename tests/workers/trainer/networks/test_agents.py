"""Tests for A3C's agents: their trunks, and a tape that recalls their outputs."""

from typing import Any

import pytest
import torch

from arcadia_workers.contract.action_names import ActionSpace, Continuous, Discrete
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.networks import agents
from arcadia_workers.trainer.networks.agents import AgentTape, BatchTape, Memory
from arcadia_workers.trainer.networks.gradients import SideBySide
from arcadia_workers.trainer.networks.lstm import cleared

PIXELS, READINGS = (4, 84, 84), (3,)
NUMBERS = Continuous((-1.0,), (1.0,))


@pytest.mark.parametrize(
    ("fields", "actions", "trunks"),
    [
        ({"env": "CartPole-v1"}, Discrete(2), 1),
        ({"env": "CartPole-v1", "value_network": "separate"}, Discrete(2), 2),
        ({"env": "Pendulum-v1"}, NUMBERS, 2),
        ({"env": "Pendulum-v1", "value_network": "shared"}, NUMBERS, 1),
    ],
)
def test_v_has_a_separate_network_if_configured(fields: dict[str, Any], actions: ActionSpace, trunks: int) -> None:
    agent = agents.build(A3cConfig(**fields), READINGS, actions)
    assert len(agent.bodies) == trunks


def test_a_separate_value_network_shares_nothing_with_the_policy() -> None:
    agent = agents.build(A3cConfig(env="CartPole-v1", value_network="separate", lstm_units=3), READINGS, Discrete(2))
    numbers, values, _ = agent(torch.randn(1, 3), agent.blank)
    of_policy = torch.autograd.grad(numbers.sum(), list(agent.parameters()), allow_unused=True)
    of_value = torch.autograd.grad(values.sum(), list(agent.parameters()), allow_unused=True)
    assert all((a is None) != (b is None) for a, b in zip(of_policy, of_value, strict=True))


@pytest.mark.parametrize("value_network", ["shared", "separate"])
@pytest.mark.parametrize("lstm_units", [0, 8])
@pytest.mark.parametrize(
    ("fields", "shape", "dtype", "exactness"),
    [
        ({"env": "ALE/Pong-v5"}, PIXELS, torch.float32, 1e-3),
        ({"env": "ALE/Pong-v5"}, PIXELS, torch.bfloat16, 0.1),
        ({"env": "ALE/Pong-v5", "network": "nature"}, PIXELS, torch.float32, 1e-3),
        ({"env": "CartPole-v1"}, READINGS, torch.float32, 1e-5),
        ({"env": "CartPole-v1", "hidden_layers": 1, "activation": "relu"}, READINGS, torch.float32, 1e-5),
        ({"env": "CartPole-v1", "hidden_layers": 3}, READINGS, torch.float32, 1e-5),
    ],
)
def test_the_tape_recalls_the_agents_outputs_and_computes_its_gradients(
    fields: dict[str, Any],
    shape: tuple[int, ...],
    dtype: torch.dtype,
    exactness: float,
    lstm_units: int,
    value_network: str,
) -> None:
    torch.manual_seed(0)
    config = A3cConfig.model_validate({**fields, "lstm_units": lstm_units, "value_network": value_network})
    agent = agents.build(config, shape, Discrete(6), dtype)
    seen = [torch.randint(256, (1, *shape)).to(torch.uint8 if shape == PIXELS else torch.float32) for _ in range(3)]
    parameters = FlatParameters(agent)
    numbers, values, memory = agent(torch.cat(seen), agent.blank)
    of_numbers, of_values = torch.randn_like(numbers), torch.randn_like(values)
    parameters.backward((numbers * of_numbers).sum() + (values * of_values).sum())
    wanted = parameters.gradients.clone()

    tape = AgentTape(agent, 3)
    parameters.gradients.fill_(float("nan"))
    for _ in range(2):  # the second round checks that rewinding discards the first
        tape.rewind(agent.blank)
        acted = torch.cat([tape.act(agent.prepare(each)) for each in seen])
    recalled = tape.recall()
    tape.backward(torch.cat([agent.prepare(each) for each in seen]), of_numbers, of_values)

    def close(ours: object, theirs: object) -> None:
        torch.testing.assert_close(ours, theirs, rtol=exactness, atol=exactness)

    close(acted, numbers.detach())
    close(recalled, (numbers.detach(), values.detach()))
    close(tape.memory, memory)
    close(parameters.gradients / wanted.norm(), wanted / wanted.norm())


@pytest.mark.parametrize("lstm_units", [0, 8])
@pytest.mark.parametrize("value_network", ["shared", "separate"])
def test_parallel_episodes_equal_single_ones(lstm_units: int, value_network: str) -> None:
    torch.manual_seed(0)
    fields: dict[str, Any] = {"lstm_units": lstm_units, "value_network": value_network}
    config = A3cConfig(env="CartPole-v1", **fields)
    agent = agents.build(config, (4,), Discrete(2))
    observations = torch.randn(6, 3, 4)  # six steps in three episodes
    together, valued, memory = [], [], tuple((h.repeat(3, 1), c.repeat(3, 1)) for h, c in agent.blank)
    with torch.no_grad():
        for step in observations:
            numbers, values, memory = agent.step(step, memory)
            together.append(numbers)
            valued.append(values)
        for episode in range(3):
            alone, valued_alone, _ = agent(observations[:, episode], agent.blank)
            assert torch.allclose(torch.stack(together)[:, episode], alone, atol=1e-6)
            assert torch.allclose(torch.stack(valued)[:, episode], valued_alone, atol=1e-6)


@pytest.mark.parametrize("lstm_units", [0, 8])
@pytest.mark.parametrize("value_network", ["shared", "separate"])
@pytest.mark.parametrize(("env", "shape"), [("CartPole-v1", READINGS), ("ALE/Pong-v5", PIXELS)])
def test_a_batch_tape_acts_and_replays_like_the_agent(
    env: str, shape: tuple[int, ...], lstm_units: int, value_network: str
) -> None:
    torch.manual_seed(0)
    config = A3cConfig.model_validate({"env": env, "lstm_units": lstm_units, "value_network": value_network})
    agent = agents.build(config, shape, Discrete(6))
    parameters = FlatParameters(agent)
    steps, envs = 3, 2
    seen = torch.randint(256, (steps, envs, *shape)).to(torch.uint8 if shape == PIXELS else torch.float32)
    states = torch.stack([agent.prepare(each) for each in seen])
    before: Memory = tuple((torch.randn(envs, 8), torch.randn(envs, 8)) for _ in agent.cells)
    openings = torch.zeros(steps, envs, dtype=torch.bool)
    openings[1, 0] = True
    outputs, memory = [], before
    for state, opens in zip(states, openings, strict=True):
        *numbers_and_values, memory = agent.step(state, tuple(cleared(cells, opens) for cells in memory))
        outputs.append(numbers_and_values)
    numbers, values = (torch.cat(each) for each in zip(*outputs, strict=True))
    of_numbers, of_values = torch.randn_like(numbers), torch.randn_like(values)
    parameters.backward((numbers * of_numbers).sum() + (values * of_values).sum())
    wanted = parameters.gradients.clone()

    tape = BatchTape(agent, steps * envs, SideBySide(2))
    *acted, after = tape.act(states[0], slice(0, envs), before)
    tape.rewind()
    replayed = tape.replay(states.flatten(0, 1), openings, before)
    parameters.backward((replayed[0] * of_numbers).sum() + (replayed[1] * of_values).sum())

    torch.testing.assert_close(acted, [each.detach() for each in outputs[0]], rtol=1e-4, atol=1e-4)
    assert len(after) == len(before)
    torch.testing.assert_close(replayed, (numbers, values), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(parameters.gradients / wanted.norm(), wanted / wanted.norm(), rtol=1e-3, atol=1e-4)

"""A3C's agents: which trunks they have, and a tape that recalls what they computed."""

from typing import Any

import pytest
import torch

from workers.trainer import agents
from workers.trainer.agents import AgentTape
from workers.trainer.config import A3cConfig
from workers.trainer.spaces import ActionSpace, Continuous, Discrete

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
def test_v_has_a_network_of_its_own_where_the_run_wants_it(
    fields: dict[str, Any], actions: ActionSpace, trunks: int
) -> None:
    agent = agents.build(A3cConfig(**fields), READINGS, actions)
    assert len(agent.bodies) == trunks


def test_a_separate_value_network_shares_nothing_with_the_policys() -> None:
    agent = agents.build(A3cConfig(env="CartPole-v1", value_network="separate", lstm_units=3), READINGS, Discrete(2))
    numbers, values, _ = agent(torch.randn(1, 3), agent.blank)
    of_policy = torch.autograd.grad(numbers.sum(), list(agent.parameters()), allow_unused=True)
    of_value = torch.autograd.grad(values.sum(), list(agent.parameters()), allow_unused=True)
    assert all((a is None) != (b is None) for a, b in zip(of_policy, of_value, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("lstm_units", [0, 8])
def test_the_tape_recalls_what_the_agent_computed_and_its_gradients(lstm_units: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    agent = agents.build(A3cConfig(lstm_units=lstm_units), PIXELS, Discrete(6), dtype)
    frames = [torch.randint(256, (1, *PIXELS), dtype=torch.uint8) for _ in range(3)]
    numbers, values, memory = agent(torch.cat(frames), agent.blank)
    wanted = torch.autograd.grad(numbers.sum() + values.square().sum(), list(agent.parameters()))

    tape = AgentTape(agent, t_max=5)
    acted = torch.cat([tape.act(agent.prepare(frame)) for frame in frames])
    recalled = tape.recall()
    found = torch.autograd.grad(recalled[0].sum() + recalled[1].square().sum(), list(agent.parameters()))

    exactness: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-4} if dtype is torch.float32 else {"rtol": 0.1, "atol": 0.1}
    torch.testing.assert_close(acted, numbers.detach(), **exactness)
    torch.testing.assert_close((recalled[0], recalled[1]), (numbers, values), **exactness)
    torch.testing.assert_close(tape.memory, memory, **exactness)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, **exactness)

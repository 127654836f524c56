"""Tests of returns and targets against the pseudocode, computed separately for each environment and step."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from arcadia_workers.trainer.learning.returns import (
    generalized_advantages,
    n_step_returns,
    one_step_targets,
    returns_of_one,
)

STEP = st.tuples(
    st.floats(-5, 5, allow_subnormal=False),  # reward
    st.floats(-5, 5, allow_subnormal=False),  # V(s)
    st.sampled_from(["continues", "terminated", "truncated"]),
)


def literal_returns(steps: list[tuple[float, float, str]], bootstrap: float, gamma: float) -> list[float | None]:
    """Compute lines 12–16 of algorithm 1 for one environment. Fresh rows are not decisions and get None."""
    fresh = [False] + [end != "continues" for _, _, end in steps]
    # The row after an end is fresh, so it cannot end an episode.
    returns: list[float | None] = [None] * len(steps)
    following = bootstrap
    for t in range(len(steps) - 1, -1, -1):
        reward, value, end = steps[t]
        if fresh[t]:
            following = value  # the value of the ended episode's last observation
            continue
        following = reward + gamma * (0.0 if end == "terminated" else following)
        returns[t] = following
    return returns


def rollout_of(steps: list[tuple[float, float, str]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the rewards, values, terminations, and fresh rows. The row after each end is fresh."""
    for t in range(1, len(steps)):
        if steps[t - 1][2] != "continues":
            steps[t] = (0.0, steps[t][1], "continues")
    rewards, values, ends = zip(*steps, strict=True)
    return (
        torch.tensor(rewards, dtype=torch.float64)[:, None],
        torch.tensor(values, dtype=torch.float64)[:, None],
        torch.tensor([end == "terminated" for end in ends])[:, None],
        torch.tensor([False, *(end != "continues" for end in ends[:-1])])[:, None],
    )


@given(st.lists(STEP, min_size=1, max_size=12), st.floats(-5, 5, allow_subnormal=False), st.floats(0, 1))
def test_returns_follow_the_pseudocode(steps: list[tuple[float, float, str]], bootstrap: float, gamma: float) -> None:
    rollout = rollout_of(steps)
    returns = n_step_returns(*rollout, torch.tensor([bootstrap], dtype=torch.float64), gamma)

    for t, expected in enumerate(literal_returns(steps, bootstrap, gamma)):
        if expected is not None:
            torch.testing.assert_close(returns[t, 0].item(), expected)


def test_returns_end_at_terminal_states_but_not_at_time_limits() -> None:
    rewards, values = torch.tensor([[1.0, 1.0], [0.0, 0.0]]), torch.tensor([[9.0, 9.0], [5.0, 5.0]])
    terminated = torch.tensor([[True, False], [False, False]])  # the second environment was truncated
    fresh = torch.tensor([[False, False], [True, True]])

    returns = n_step_returns(rewards, values, terminated, fresh, torch.tensor([7.0, 7.0]), gamma=0.5)

    assert returns[0].tolist() == [1.0, 1.0 + 0.5 * 5.0]


FLOATS = st.lists(st.floats(-5, 5), min_size=1, max_size=12)


@given(FLOATS, st.floats(-5, 5), st.floats(0, 1))
def test_each_return_is_the_discounted_sum_of_the_following_rewards(
    rewards: list[float], bootstrap: float, gamma: float
) -> None:
    returns = returns_of_one(rewards, bootstrap, gamma)

    t = len(rewards)
    for i, following in enumerate(returns):
        expected = sum(gamma ** (k - i) * rewards[k] for k in range(i, t)) + gamma ** (t - i) * bootstrap
        assert following == pytest.approx(expected, abs=1e-9)


@given(FLOATS, st.floats(0, 1), st.data())
def test_one_step_targets_use_the_next_state(rewards: list[float], gamma: float, data: st.DataObject) -> None:
    following = data.draw(st.lists(st.floats(-5, 5), min_size=len(rewards), max_size=len(rewards)))
    targets = one_step_targets(rewards, following, gamma)
    for i, y in enumerate(targets):
        assert y == rewards[i] + gamma * following[i]


def literal_advantage(
    t: int, steps: list[tuple[float, float, str]], bootstrap: float, gamma: float, lam: float
) -> float:
    """Return equation 11 as a sum: Â_t = δ_t + (γλ)δ_{t+1} + …, to the end of the episode or of the rollout."""
    values = [value for _, value, _ in steps] + [bootstrap]
    advantage, weight = 0.0, 1.0
    for i in range(t, len(steps)):
        reward, value, end = steps[i]
        following = 0.0 if end == "terminated" else values[i + 1]
        advantage += weight * (reward + gamma * following - value)
        weight *= gamma * lam
        if end != "continues":
            break
    return advantage


@given(
    st.lists(STEP, min_size=1, max_size=12),
    st.floats(-5, 5, allow_subnormal=False),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_advantages_follow_equation_11(
    steps: list[tuple[float, float, str]], bootstrap: float, gamma: float, lam: float
) -> None:
    rollout = rollout_of(steps)
    advantages = generalized_advantages(*rollout, torch.tensor([bootstrap], dtype=torch.float64), gamma, lam)

    fresh = rollout[-1]
    expected = [0.0 if fresh[t] else literal_advantage(t, steps, bootstrap, gamma, lam) for t in range(len(steps))]
    assert advantages[:, 0].tolist() == pytest.approx(expected, abs=1e-9)

"""Tests for the environment of one actor-learner: outcomes of steps and changes of episodes."""

from collections.abc import Iterator

import numpy as np
import pytest

from arcadia_workers.contract.action_names import Continuous, Discrete
from arcadia_workers.contract.config import A3cConfig, TrainingConfig
from arcadia_workers.trainer.environments.environments import Actions
from arcadia_workers.trainer.environments.own_environment import OwnEnvironment, interface

LEFT = np.array([0])


@pytest.fixture
def cartpole() -> Iterator[OwnEnvironment]:
    environment = OwnEnvironment(A3cConfig(env="CartPole-v1"), seed=3)
    yield environment
    environment.close()


def fall(environment: OwnEnvironment) -> int:
    """Push the cart to the left until the pole falls. Return the outcomes of the steps."""
    steps = 1
    while not environment.step(LEFT).over:
        steps += 1
    return steps


def test_a_finished_episode_has_its_raw_return_and_length(cartpole: OwnEnvironment) -> None:
    steps = fall(cartpole)
    episode = cartpole.begin_again()
    assert (episode.episode_return, episode.length) == (steps, steps)


def test_the_next_episode_begins_with_its_first_observation_and_counts_from_zero(cartpole: OwnEnvironment) -> None:
    fall(cartpole)
    fallen = cartpole.observation
    cartpole.begin_again()
    assert np.abs(cartpole.observation).max() <= 0.05
    assert not np.array_equal(cartpole.observation, fallen)
    steps = fall(cartpole)
    assert cartpole.begin_again().length == steps


def test_a_fallen_pole_is_terminal_and_a_time_limit_is_not() -> None:
    cartpole = OwnEnvironment(A3cConfig(env="CartPole-v1"), seed=3)
    outcome = cartpole.step(LEFT)
    while not outcome.over:
        outcome = cartpole.step(LEFT)
    assert outcome.terminal
    cartpole.close()

    pendulum = OwnEnvironment(A3cConfig(env="Pendulum-v1"), seed=3)
    action = np.zeros((1, 1), dtype=np.float32)
    outcomes = [pendulum.step(action) for _ in range(200)]
    assert [outcome.over for outcome in outcomes] == [False] * 199 + [True]
    assert not outcomes[-1].terminal
    pendulum.close()


def test_only_the_learners_rewards_are_clipped() -> None:
    def played(clips: bool) -> tuple[list[float], float]:
        environment = OwnEnvironment(A3cConfig(env="Pendulum-v1", clip_rewards=clips), seed=3)
        rewards = [environment.step(np.zeros((1, 1), dtype=np.float32)).reward for _ in range(200)]
        episode_return = environment.begin_again().episode_return
        environment.close()
        return rewards, episode_return

    raw, raw_return = played(clips=False)
    clipped, clipped_return = played(clips=True)
    assert min(raw) < -1
    assert clipped == [max(reward, -1.0) for reward in raw]
    assert raw_return == clipped_return == pytest.approx(sum(raw))


def test_a_lost_life_is_terminal_only_if_configured_and_the_game_continues() -> None:
    def outcomes(ends: bool) -> tuple[int, int]:
        config = A3cConfig(env="ALE/Breakout-v5", life_loss_ends_episode=ends, max_noops=0)
        environment = OwnEnvironment(config, seed=1)
        fire_and_wait: list[Actions] = [np.array([1]), np.array([0])]
        terminal = over = 0
        for step in range(400):
            outcome = environment.step(fire_and_wait[step % 2])
            terminal += outcome.terminal
            over += outcome.over
            if outcome.over:
                environment.begin_again()
                break
        environment.close()
        return terminal, over

    assert outcomes(ends=True) == (5, 1)
    assert outcomes(ends=False) == (1, 1)


@pytest.mark.parametrize(
    ("config", "shape", "actions"),
    [
        (A3cConfig(env="CartPole-v1"), (4,), Discrete(2)),
        (A3cConfig(env="ALE/Pong-v5"), (4, 84, 84), Discrete(6)),
        (A3cConfig(env="Pendulum-v1"), (3,), Continuous((-2.0,), (2.0,))),
    ],
    ids=lambda value: value.env if isinstance(value, TrainingConfig) else "",
)
def test_the_main_process_can_read_shape_and_actions(
    config: TrainingConfig, shape: tuple[int, ...], actions: Discrete | Continuous
) -> None:
    assert interface(config) == (shape, actions)

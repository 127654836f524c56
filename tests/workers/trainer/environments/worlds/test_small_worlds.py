"""Tests for the small environments: rewards, episode lengths and pictures."""

from collections.abc import Callable

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.contract.action_names import Continuous, action_names
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.contract.games import FIRST_STEPS
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.worlds.puzzles import LIGHT

Policy = Callable[[NDArray[np.float32]], int | NDArray[np.float32]]


def returns(env: str, policy: Policy, episodes: int = 50) -> list[float]:
    """Play episodes and return the return of each."""
    world: gymnasium.Env[NDArray[np.float32], int | NDArray[np.float32]] = gymnasium.make(env)
    totals = []
    for seed in range(episodes):
        observation, _ = world.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = world.step(policy(observation))
            total, over = total + float(reward), terminated or truncated
        totals.append(total)
    return totals


def toward_the_ball(board: NDArray[np.float32]) -> int:
    rows = board.reshape(-1, 5)
    ball = int(rows[:-1].sum(axis=0).argmax())
    return int(np.sign(ball - int(rows[-1].argmax()))) + 1


def test_catch_rewards_caught_balls_and_penalizes_missed_ones() -> None:
    assert returns("Arcadia/Catch-v0", toward_the_ball) == [1.0] * 50
    standing_still = returns("Arcadia/Catch-v0", lambda _: 1)
    assert set(standing_still) == {1.0, -1.0}
    assert sum(standing_still) < 0  # reaches only one column of five


def test_recall_rewards_only_the_cue_and_shows_it_only_once() -> None:
    seen: list[int] = []

    def with_memory(shown: NDArray[np.float32]) -> int:
        if shown[:2].any():
            seen.append(int(shown[:2].argmax()))
        return seen[-1]

    assert returns("Arcadia/Recall-v0", with_memory) == [1.0] * 50
    assert len(seen) == 50
    assert set(seen) == {0, 1}
    for answer in (0, 1):
        assert abs(np.mean(returns("Arcadia/Recall-v0", lambda _, a=answer: a, episodes=200))) < 0.25  # type: ignore[misc]


def test_identity_gives_a_reward_at_every_step() -> None:
    assert returns("Arcadia/Identity-v0", lambda shown: int(shown.argmax())) == [10.0] * 50
    assert returns("Arcadia/Identity-v0", lambda shown: int(shown.argmin())) == [-10.0] * 50


def test_targets_penalty_is_the_squared_distance() -> None:
    assert returns("Arcadia/Target-v0", lambda point: point) == [0.0] * 50
    aside = returns("Arcadia/Target-v0", lambda point: point + np.float32(0.1))
    assert aside == pytest.approx([-5 * 2 * 0.1**2] * 50, rel=1e-3)


def test_targets_second_action_moves_the_shot_up_as_its_name_says() -> None:
    env = gymnasium.make("Arcadia/Target-v0", render_mode="rgb_array")
    env.reset(seed=1)
    rows = []
    for height in (-0.9, 0.9):
        env.step(np.array([0.0, height], dtype=np.float32))
        picture = env.render()
        assert isinstance(picture, np.ndarray)
        rows.append(np.argwhere((picture == LIGHT).all(-1))[:, 0].mean())
    assert rows[1] < rows[0]
    assert action_names("Arcadia/Target-v0", Continuous((-1.0, -1.0), (1.0, 1.0))) == ("to the right", "up")


def test_actions_are_clipped_to_their_bounds() -> None:
    batch = environments.make(A3cConfig(env="Arcadia/Target-v0"), num_envs=3, seed=1)
    points = batch.reset()
    batch.send(np.array([[9, 1], [1, -9], [-1, -1]], dtype=np.float32))
    rewards = batch.receive().rewards
    batch.close()
    corners = np.array([[1, 1], [1, -1], [-1, -1]])
    assert rewards == pytest.approx(-((corners - points) ** 2).sum(axis=1))


@pytest.mark.parametrize("env", [world.id for world in FIRST_STEPS])
def test_small_environments_use_seeds_and_are_rendered(env: str) -> None:
    first, second = (gymnasium.make(env, render_mode="rgb_array") for _ in range(2))
    for seed in range(5):
        assert (first.reset(seed=seed)[0] == second.reset(seed=seed)[0]).all()
    pictures = {np.asarray(first.render()).tobytes() for seed in range(20) if first.reset(seed=seed)}
    assert len(pictures) > 1
    assert np.asarray(first.render()).shape[2] == 3

"""Tests that agents see the same in evaluations as in training."""

import cv2
import numpy as np
import pytest
from ale_py.vector_env import AtariVectorEnv

from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.video import shrunk


@pytest.mark.parametrize("rows", [210, 214, 220, 230, 250])  # heights of the games' screens
def test_screens_are_resized_like_by_opencv(rows: int) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        screen = random.integers(256, size=(rows, 160), dtype=np.uint8)
        assert np.array_equal(shrunk(screen), cv2.resize(screen, (84, 84), interpolation=cv2.INTER_AREA))


@pytest.mark.parametrize(
    ("env", "rom"),
    # The last one has 250 rows.
    [("ALE/MsPacman-v5", "ms_pacman"), ("ALE/Seaquest-v5", "seaquest"), ("ALE/MrDo-v5", "mr_do")],
)
def test_observations_equal_those_of_the_training_emulator(env: str, rom: str) -> None:
    training = AtariVectorEnv(rom, 1, num_threads=1, noop_max=0, use_fire_reset=False, reward_clipping=False)
    game = AtariGame(env, cap_frames=108_000, frames_per_step=4)
    game.begin(seed=5)
    observations, _ = training.reset(seed=np.array([5]))
    assert np.array_equal(game.observation, observations[0])
    random, score = np.random.default_rng(0), 0.0
    for _ in range(200):
        action = int(random.integers(game.actions.count))  # type: ignore[union-attr]
        observations, rewards, *_, info = training.step(np.array([action]))
        game.step(action)
        score += float(rewards[0])
        assert np.array_equal(game.observation, observations[0])
        assert (game.score, game.frames) == (score, info["episode_frame_number"][0])
    training.close()

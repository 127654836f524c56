"""Tests for batches of environments: shapes, autoreset rows, lives and seeds."""

import gymnasium
import numpy as np
import pytest
from ale_py import roms

from arcadia_workers.contract.action_names import Continuous, number_of_actions
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.contract.environment_families import ATARI
from arcadia_workers.contract.games import ENVIRONMENTS, GAMES_OF_THE_PAPERS, rom_of
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import (
    Actions,
    AtariEnvironments,
    Environments,
    GymnasiumEnvironments,
)


def test_the_list_has_all_shipped_one_player_atari_games() -> None:
    shipped = set(roms.get_all_rom_ids())
    for_two_players = {"combat", "joust", "maze_craze", "warlords"}
    atari = [env for env, known in ENVIRONMENTS.items() if known.family is ATARI]
    assert {rom_of(env) for env in atari} == shipped - for_two_players


@pytest.mark.parametrize("env", ["Arcadia/Labyrinth-v0", "Acrobot-v1"])
def test_runs_of_neighboring_seeds_share_no_environment(env: str) -> None:
    openings: list[bytes] = []
    for seed in (1, 2):
        opened = environments.make(A3cConfig(env=env), 4, seed)
        openings += [opening.tobytes() for opening in opened.reset()]
        opened.close()
    assert len(set(openings)) == 8


def test_the_papers_games_are_marked() -> None:
    marked = [env for env, known in ENVIRONMENTS.items() if known.group == "Atari, of the papers"]
    assert len(marked) == len(set(marked)) == 57
    assert marked == [f"ALE/{game}-v5" for game in GAMES_OF_THE_PAPERS]


# Each emulator takes 0.2 s to open. The required tests step every tenth game.
REQUIRED_GAMES = [env for env, known in ENVIRONMENTS.items() if known.family is ATARI][::10]


@pytest.mark.parametrize(
    "env",
    [
        pytest.param(env, marks=[pytest.mark.nightly] if known.family is ATARI and env not in REQUIRED_GAMES else [])
        for env, known in ENVIRONMENTS.items()
    ],
)
def test_all_listed_environments_match_their_description(env: str) -> None:
    known = ENVIRONMENTS[env]
    # Other tests step several emulators at once.
    num_envs = 1 if known.family.simulator == "ale" else 2
    batch = environments.make(A3cConfig(env=env, max_noops=1), num_envs, seed=1)
    assert isinstance(batch.actions, Continuous) == (known.actions == "continuous")
    assert batch.frames_per_step == known.frames_per_step
    assert (len(batch.observation_shape) == 3) == known.shows_pixels
    assert batch.observation_shape[1:] == ((84, 84) if known.shows_pixels else ())

    random = np.random.default_rng(1)
    seen = [batch.reset()]
    for _ in range(3):
        batch.send(any_actions(batch, random))
        step = batch.receive()
        seen.append(step.observations)
        assert step.rewards.shape == step.terminated.shape == (num_envs,)
        assert np.isfinite(step.rewards).all()
    batch.close()

    assert {observations.dtype for observations in seen} == {np.dtype(np.uint8 if known.shows_pixels else np.float32)}
    assert {observations.shape for observations in seen} == {(num_envs, *batch.observation_shape)}
    assert np.isfinite(seen).all()


def any_actions(batch: Environments, random: np.random.Generator) -> Actions:
    """Return random actions. Continuous actions may be out of bounds."""
    if isinstance(batch.actions, Continuous):
        return random.normal(0, 2, (batch.num_envs, batch.actions.size)).astype(np.float32)
    return random.integers(0, batch.actions.count, batch.num_envs)


def test_the_row_after_an_end_is_fresh_and_starts_the_next_episode() -> None:
    batch = GymnasiumEnvironments("CartPole-v1", num_envs=2, seed=3)
    batch.reset()
    ended = np.zeros(2, dtype=np.bool_)
    fresh_rows = 0
    for _ in range(60):  # pushing one way topples the pole within a dozen steps
        batch.send(np.ones(2, dtype=np.int64))
        step = batch.receive()
        assert (step.fresh == ended).all()
        assert (step.rewards[step.fresh] == 0).all()
        assert (np.abs(step.observations[step.fresh]) <= 0.05).all()  # CartPole begins within ±0.05
        ended = step.terminated | step.truncated
        fresh_rows += int(step.fresh.sum())
    batch.close()
    assert fresh_rows >= 6


def test_observations_received_are_not_overwritten_by_later_steps() -> None:
    pong = A3cConfig(env="ALE/Pong-v5", max_noops=30)
    for batch in (GymnasiumEnvironments("CartPole-v1", 2, seed=1), AtariEnvironments(pong, 2, 1, 1)):
        batch.reset()
        batch.send(np.zeros(2, dtype=np.int64))
        first = batch.receive().observations
        copy = first.copy()
        for _ in range(5):
            batch.send(np.zeros(2, dtype=np.int64))
            batch.receive()
        batch.close()
        assert (first == copy).all()


def test_a_lost_life_is_reported_and_the_game_continues() -> None:
    batch = AtariEnvironments(A3cConfig(env="ALE/Breakout-v5", max_noops=1), 2, 1, 1)
    batch.reset()
    losses = 0
    for _ in range(200):  # standing still loses the ball
        batch.send(np.ones(2, dtype=np.int64))
        step = batch.receive()
        losses += int(step.life_lost.sum())
        if step.terminated.any():
            break
        if losses == 1 and step.life_lost.any():
            assert not step.terminated[step.life_lost].any()
    batch.close()
    assert losses >= 5  # all five balls of one of the two games


def test_equal_seeds_give_equal_games_and_other_seeds_other_games() -> None:
    def play(seed: int) -> list[bytes]:
        batch = AtariEnvironments(A3cConfig(env="ALE/Breakout-v5", max_noops=30), 2, 2, seed)
        frames = [batch.reset().tobytes()]
        actions = np.random.default_rng(0).integers(0, number_of_actions(batch.actions), (40, 2))
        for row in actions:
            batch.send(row)
            frames.append(batch.receive().observations.tobytes())
        batch.close()
        return frames

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_an_invalid_action_is_refused_before_it_reaches_the_emulator() -> None:
    batch = AtariEnvironments(A3cConfig(env="ALE/Pong-v5", max_noops=0), 1, 1, 1)
    batch.reset()
    with pytest.raises(ValueError, match="between 0 and 5"):
        batch.send(np.array([6]))
    batch.close()


def test_nan_and_infinite_actions_do_not_crash_the_process() -> None:
    walker = GymnasiumEnvironments("BipedalWalker-v3", 1, 1)
    walker.reset()
    for odd in (np.nan, np.inf, -np.inf):
        walker.send(np.full((1, 4), odd, dtype=np.float32))
        assert np.isfinite(walker.receive().observations).all()
    walker.close()


def test_environments_with_vector_observations_are_registered_in_gymnasium() -> None:
    assert all(env in gymnasium.registry for env, known in ENVIRONMENTS.items() if not known.shows_pixels)

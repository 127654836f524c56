"""Tests that environments of every kind play as in training and can be recorded."""

import numpy as np
import pytest
from numpy.typing import NDArray

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import KEEP_THEIR_WORLD, NO_LIVES, GymnasiumGame, PlayableGame
from arcadia_workers.trainer.games.video import Frame
from arcadia_workers.trainer.methods.trainer import Action

# Frames per second of one environment of every kind: emulator, vectorized or not, pictures or readings, discrete or
# continuous actions, repeated or not.
FRAMES_PER_SECOND = {
    "ALE/Breakout-v5": 60,
    "CartPole-v1": 50,
    "Acrobot-v1": 15,
    "Pendulum-v1": 30,
    "LunarLander-v3": 50,
    "Arcadia/Catch-v0": 5,
    "Arcadia/Target-v0": 3,
    "Arcadia/CarRacing-v0": 50,
    "Arcadia/CarRacingContinuous-v0": 50,
    "Arcadia/Labyrinth-v0": 60,
    "HalfCheetah-v5": 20,
    "Hopper-v5": 125,
    "Arcadia/ReacherPixels-v0": 50,
}
NO_EMULATOR = [env for env in FRAMES_PER_SECOND if not env.startswith("ALE/")]


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def opened(env: str) -> PlayableGame:
    """Open an environment that can be recorded."""
    if env.startswith("ALE/"):
        return AtariGame(env, cap_frames=None, frames_per_step=4)
    return GymnasiumGame(env, filmed=True)


def thoughtless(actions: ActionSpace, random: np.random.Generator) -> Action:
    """Return a random action. Continuous actions may be out of bounds."""
    if isinstance(actions, Continuous):
        return random.normal(0, 2, actions.size).astype(np.float32)
    return int(random.integers(actions.count))


@pytest.mark.parametrize("filmed", [False, True])
@pytest.mark.parametrize("env", NO_EMULATOR)
def test_games_play_as_in_training_with_or_without_recording(env: str, filmed: bool) -> None:
    game, training = GymnasiumGame(env, filmed=filmed), environments.make(A3cConfig(env=env), 1, seed=11)
    assert (game.observation_shape, game.actions) == (training.observation_shape, training.actions)
    random, first = np.random.default_rng(0), training.reset()
    game.begin(11)
    assert first.dtype == game.observation.dtype
    assert np.allclose(first[0], game.observation)
    steps, score = 0, 0.0
    while not game.over and steps < 20:
        action = thoughtless(game.actions, random)
        training.send(np.array([action]))
        step = training.receive()
        game.step(action)
        score += float(step.rewards[0])
        assert np.allclose(step.observations[0], game.observation)
        assert game.score == pytest.approx(score, rel=1e-5, abs=1e-5)
        assert game.over == (step.terminated[0] or step.truncated[0])
        steps += 1
    training.close()
    game.close()


@pytest.mark.parametrize("env", KEEP_THEIR_WORLD)
def test_an_episode_does_not_depend_on_previous_episodes(env: str) -> None:
    one_after_another = GymnasiumGame(env)
    for earlier in range(11):
        played(one_after_another, earlier)
    assert played(one_after_another, 11) == played(GymnasiumGame(env), 11)


def played(game: PlayableGame, seed: int) -> tuple[float, int]:
    """Play an episode with random actions, long enough for the walkers to fall."""
    random = np.random.default_rng(seed)
    game.begin(seed)
    steps = 0
    while not game.over and steps < 150:
        game.step(random.uniform(-1, 1, 4).astype(np.float32))
        steps += 1
    return game.score, steps


@pytest.mark.parametrize("env", FRAMES_PER_SECOND)
def test_a_recording_shows_every_picture_from_its_start(env: str) -> None:
    game, random, pictures = opened(env), np.random.default_rng(1), list[Frame]()
    game.begin(2)
    game.show(pictures.append)
    assert len(pictures) == 1
    for _ in range(4):
        game.step(thoughtless(game.actions, random))
    game.close()
    seconds = 4 * ENVIRONMENTS[env].frames_per_step / FRAMES_PER_SECOND[env]
    assert len(pictures) - 1 == pytest.approx(seconds * game.pictures_per_second, abs=0.5)
    assert any(not np.array_equal(pictures[0], picture) for picture in pictures)
    assert pictures[0].dtype == np.uint8
    assert min(pictures[0].shape[:2]) * game.scale >= 144


@pytest.mark.parametrize("env", FRAMES_PER_SECOND)
def test_actions_of_games_have_names(env: str) -> None:
    game = opened(env)
    game.close()
    count = game.actions.size if isinstance(game.actions, Continuous) else game.actions.count
    assert len(set(game.action_names)) == count


def area_weights(pixels: int, into: int) -> NDArray[np.float64]:
    """Return the share of each larger pixel that each pixel covers."""
    weights = np.zeros((into, pixels))
    size = pixels / into
    for i in range(into):
        for j in range(pixels):
            weights[i, j] = max(0.0, min((i + 1) * size, j + 1) - max(i * size, j)) / size
    return weights


ROWS, COLUMNS = area_weights(210, 84), area_weights(160, 84).T


@pytest.mark.parametrize("game_name", ["Pong", "Seaquest", "MsPacman"])  # flicker, scrolling, change at every frame
def test_a_recording_of_the_emulator_shows_the_agents_game(game_name: str) -> None:
    game, pictures = AtariGame(f"ALE/{game_name}-v5", None, 4), list[Frame]()
    game.begin(3)
    game.show(pictures.append)
    random = np.random.default_rng(3)
    for _ in range(40):
        game.step(int(random.integers(len(game.action_names))))
        # Grayscale, maximum of the last two pictures, 84 × 84.
        first, second = (np.round(picture @ np.array([0.2989, 0.5870, 0.1140])) for picture in pictures[-2:])
        assert np.abs(game.observation[-1] - ROWS @ np.maximum(first, second) @ COLUMNS).max() <= 2
    assert len(pictures) == 1 + 4 * 40


@pytest.mark.parametrize("cap", [401, 402, 403, 404])
def test_a_truncated_game_shows_its_last_screen(cap: int) -> None:
    cut, screens = AtariGame("ALE/Pong-v5", cap, 4), list[Frame]()
    cut.begin(3)
    cut.show(screens.append)
    while not cut.over:
        before = cut.observation
        cut.step(2)
    assert cut.cut_off
    assert cut.frames == cap
    assert np.array_equal(cut.observation[:-1], before[1:])
    # The maximum of the last two frames after a complete decision, otherwise the last frame.
    seen = [np.round(picture @ np.array([0.2989, 0.5870, 0.1140])) for picture in screens[-1 if cap % 4 else -2 :]]
    assert np.abs(cut.observation[-1] - ROWS @ np.maximum(seen[0], seen[-1]) @ COLUMNS).max() <= 2


def test_lives_are_counted_in_games_that_have_them() -> None:
    breakout, pong = (AtariGame(f"ALE/{name}-v5", None, 4) for name in ("Breakout", "Pong"))
    for game in (breakout, pong):
        game.begin(1)
    assert (breakout.lives, pong.lives, GymnasiumGame("CartPole-v1").lives) == (5, NO_LIVES, NO_LIVES)
    while not breakout.over:
        breakout.step(1)
    assert breakout.lives == 0


def test_lives_that_appear_after_the_reset_are_counted() -> None:
    amidar = AtariGame("ALE/Amidar-v5", None, 4)
    for _ in range(2):
        amidar.begin(1)
        reported = [amidar.lives]
        while not amidar.over:
            amidar.step(0)
            reported.append(amidar.lives)
        assert list(dict.fromkeys(reported)) == [NO_LIVES, 11, 10, 9, 8, 0]

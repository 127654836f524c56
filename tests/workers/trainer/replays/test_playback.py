"""A replay shows the game that the agent plays, and the agent sees the same observations as in training."""

from pathlib import Path

import av
import numpy as np
import pytest
from ale_py import ALEInterface, LoggerMode
from numpy.typing import NDArray

from workers.contract.config import A3cConfig, PaacConfig
from workers.contract.games import ENVIRONMENTS
from workers.contract.spaces import ActionSpace, Continuous, number_of_actions
from workers.trainer.environments import environments
from workers.trainer.replays import playback
from workers.trainer.replays.playback import Seen
from workers.trainer.replays.players import Action
from workers.trainer.replays.video import VideoWriter


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    ALEInterface.setLoggerMode(LoggerMode.Error)


def area_weights(pixels: int, into: int) -> NDArray[np.float64]:
    """Return how much of each pixel falls into each larger one."""
    weights = np.zeros((into, pixels))
    size = pixels / into
    for i in range(into):
        for j in range(pixels):
            weights[i, j] = max(0.0, min((i + 1) * size, j + 1) - max(i * size, j)) / size
    return weights


ROWS, COLUMNS = area_weights(210, 84), area_weights(160, 84).T


def preprocessed(pictures: list[NDArray[np.uint8]]) -> NDArray[np.float64]:
    """Turn a step's last two pictures into the agent's observation: grey, the brighter of both, 84 × 84."""
    grey = [np.round(picture @ np.array([0.2989, 0.5870, 0.1140])) for picture in pictures[-2:]]
    brighter: NDArray[np.float64] = ROWS @ np.maximum(grey[0], grey[-1]) @ COLUMNS
    return brighter


# These cover seeds, no-op starts with and without FIRE, flicker, scrolling, and a screen that changes at every frame.
@pytest.mark.parametrize(("game", "seed"), [("Pong", 0), ("Breakout", 3), ("Seaquest", 2), ("MsPacman", 2**31 + 5)])
def test_the_pictures_are_of_the_game_that_the_agent_plays(game: str, seed: int) -> None:
    stage = playback.open_stage(PaacConfig(env=f"ALE/{game}-v5"), seed)
    random = np.random.default_rng(seed)
    seen = stage.reset()
    pictures = list(seen.pictures)
    assert np.abs(seen.observation[-1] - preprocessed(seen.pictures)).max() <= 2
    for _ in range(40):
        seen = stage.step(int(random.integers(number_of_actions(stage.actions))))
        pictures += seen.pictures
        assert len(seen.pictures) == 4
        assert np.abs(seen.observation[-1] - preprocessed(seen.pictures)).max() <= 2
    stage.close()
    assert pictures[0].shape == (210, 160, 3)
    assert any(not np.array_equal(pictures[0], picture) for picture in pictures)


# A seed whose emulator draws 0 no-ops first, repeated actions, all actions, a game without FIRE, a cap.
@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("Breakout", {"min_noops": 1, "max_noops": 1, "fire_at_reset": False}),
        ("Breakout", {"repeat_action_probability": 0.25}),
        ("Breakout", {"repeat_action_probability": 0.25, "min_noops": 1, "max_noops": 2, "fire_at_reset": False}),
        ("MsPacman", {"action_set": "full"}),
        ("Pong", {"action_set": "full", "cap_frames": 40}),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_pictures_follow_the_emulators_settings(game: str, settings: dict[str, object], seed: int) -> None:
    config = PaacConfig.model_validate({"env": f"ALE/{game}-v5", **settings})
    stage = playback.open_stage(config, seed)
    random = np.random.default_rng(seed)
    seen, steps = stage.reset(), 0
    while not seen.over and steps < 60:
        assert np.abs(seen.observation[-1] - preprocessed(seen.pictures)).max() <= 2
        seen = stage.step(int(random.integers(number_of_actions(stage.actions))))
        steps += 1
    stage.close()
    assert steps == (10 if config.cap_frames == 40 else 60)


def thoughtless(actions: ActionSpace, random: np.random.Generator) -> Action:
    """Return a random action; a continuous one may lie beyond the bounds."""
    if isinstance(actions, Continuous):
        return random.normal(0, 2, actions.size).astype(np.float32)
    return int(random.integers(actions.count))


# Frames a second of one environment of every kind: emulator, vectorised or not, pictures or readings, discrete or
# continuous actions, repeated or not.
FRAMES_PER_SECOND = {
    "ALE/Breakout-v5": 60,
    "CartPole-v1": 50,
    "Pendulum-v1": 30,
    "Arcadia/Catch-v0": 5,
    "Arcadia/Target-v0": 3,
    "Arcadia/CarRacing-v0": 50,
    "Arcadia/CarRacingContinuous-v0": 50,
    "Arcadia/Labyrinth-v0": 60,
    "HalfCheetah-v5": 20,
    "Hopper-v5": 125,
    "Arcadia/ReacherPixels-v0": 50,
}


@pytest.mark.parametrize("env", FRAMES_PER_SECOND)
def test_the_agent_sees_what_it_sees_in_training(env: str) -> None:
    config = A3cConfig(env=env)
    stage = playback.open_stage(config, seed=11)
    training = environments.make(config, 1, seed=11)
    assert (stage.observation_shape, stage.actions) == (training.observation_shape, training.actions)
    random = np.random.default_rng(0)
    first, seen = training.reset(), stage.reset()
    assert first.dtype == seen.observation.dtype
    assert np.allclose(first[0], seen.observation)
    steps = 0
    while not seen.over and (steps < 40 or env.startswith("ALE/")):
        action = thoughtless(stage.actions, random)
        training.send(np.array([action]))
        step, seen = training.receive(), stage.step(action)
        assert np.allclose(step.observations[0], seen.observation)
        assert seen.reward == pytest.approx(step.rewards[0])
        assert seen.over == (step.terminated[0] or step.truncated[0])
        steps += 1
    training.close()
    stage.close()


@pytest.mark.parametrize("env", FRAMES_PER_SECOND)
def test_every_kind_of_environment_makes_a_film_with_movement(env: str, tmp_path: Path) -> None:
    stage = playback.open_stage(A3cConfig(env=env), seed=2)
    random = np.random.default_rng(1)
    pictures = stage.reset().pictures
    for _ in range(4):
        pictures += stage.step(thoughtless(stage.actions, random)).pictures
    path = tmp_path / "film.mp4"
    with VideoWriter(path, stage.pictures_per_second, stage.scale) as video:
        for picture in pictures:
            video.add(picture)
    stage.close()

    seconds = 4 * ENVIRONMENTS[env].frames_per_step / FRAMES_PER_SECOND[env]
    assert len(pictures) - 1 == pytest.approx(seconds * stage.pictures_per_second, abs=0.5)
    assert any(not np.array_equal(pictures[0], picture) for picture in pictures)
    with av.open(str(path)) as film:
        frames = list(film.decode(video=0))
    assert len(frames) == len(pictures)
    height, width = (side * stage.scale for side in pictures[0].shape[:2])
    assert (frames[0].height, frames[0].width) == (height, width)
    assert min(height, width) >= 144


def test_a_lost_life_does_not_end_a_replay() -> None:
    stage = playback.open_stage(PaacConfig(env="ALE/Breakout-v5", life_loss_ends_episode=True), seed=1)
    stage.reset()
    steps: list[Seen] = []
    while not (steps and steps[-1].over):
        steps.append(stage.step(1))
    stage.close()
    assert len(steps) > 60  # there are five balls, and each takes a while to fall


@pytest.mark.parametrize(
    ("env", "shape", "rate"),
    [
        ("CartPole-v1", (400, 600, 3), 50),
        ("Acrobot-v1", (500, 500, 3), 15),
        ("MountainCar-v0", (400, 600, 3), 30),
        ("LunarLander-v3", (400, 600, 3), 50),
    ],
)
def test_gymnasium_draws_itself_without_a_screen(env: str, shape: tuple[int, ...], rate: int) -> None:
    stage = playback.open_stage(PaacConfig(env=env), seed=1)
    first, second = stage.reset(), stage.step(1)
    stage.close()
    assert first.pictures[0].shape == shape
    assert stage.pictures_per_second == rate
    assert first.pictures[0].std() > 5
    assert not np.array_equal(first.pictures[0], second.pictures[0])

"""What a replay shows is what the agent saw, and the agent sees what it saw in training."""

import numpy as np
import pytest
from ale_py import ALEInterface, LoggerMode
from numpy.typing import NDArray

from workers.trainer import environments, playback
from workers.trainer.config import PaacConfig
from workers.trainer.playback import Seen
from workers.trainer.spaces import number_of_actions


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
    """Turn the last two pictures of a step into what the agent sees of it: grey, brighter of both, 84 × 84."""
    grey = [np.round(picture @ np.array([0.2989, 0.5870, 0.1140])) for picture in pictures[-2:]]
    brighter: NDArray[np.float64] = ROWS @ np.maximum(grey[0], grey[-1]) @ COLUMNS
    return brighter


# Seeds, no-op starts with and without FIRE, flicker, scrolling, a game whose screen changes at every frame.
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


@pytest.mark.parametrize("env", ["ALE/Breakout-v5", "CartPole-v1"])
def test_the_agent_sees_what_it_sees_in_training(env: str) -> None:
    config = PaacConfig(env=env)
    stage = playback.open_stage(config, seed=11)
    training = environments.make(config, 1, seed=11)
    assert (stage.observation_shape, stage.actions) == (training.observation_shape, training.actions)
    assert np.allclose(training.reset()[0], stage.reset().observation)
    random = np.random.default_rng(0)
    over = False
    while not over:
        action = int(random.integers(number_of_actions(stage.actions)))
        training.send(np.array([action]))
        step, seen = training.receive(), stage.step(action)
        over = seen.over
        assert np.allclose(step.observations[0], seen.observation)
        assert (seen.reward, over) == (step.rewards[0], step.terminated[0] or step.truncated[0])
    training.close()
    stage.close()


def test_a_lost_life_does_not_end_a_replay() -> None:
    stage = playback.open_stage(PaacConfig(env="ALE/Breakout-v5", life_loss_ends_episode=True), seed=1)
    stage.reset()
    steps: list[Seen] = []
    while not (steps and steps[-1].over):
        steps.append(stage.step(1))
    stage.close()
    assert len(steps) > 60  # five balls, each of which takes a while to fall


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

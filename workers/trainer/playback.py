"""One environment that also shows its pictures; an agent meets in it what it met in training."""

from dataclasses import dataclass
from typing import Any, Protocol, cast

import ale_py
import gymnasium
import numpy as np
from ale_py.roms import get_rom_path
from numpy.typing import NDArray

from workers.trainer.config import RunConfig
from workers.trainer.environments import AtariEnvironments, Observations, action_space, observed
from workers.trainer.games import rom_of
from workers.trainer.spaces import ActionSpace, Continuous
from workers.trainer.video import Frame

# Seeds that the emulator takes.
SEEDS = 2**31 - 1


# The number of an action, or the numbers that it sets.
Action = int | NDArray[np.float32]


@dataclass(frozen=True)
class Seen:
    """What one action led to: pictures in order, and what the agent is told."""

    pictures: list[Frame]
    observation: Observations
    reward: float
    over: bool


class Stage(Protocol):
    """A single environment with pictures."""

    observation_shape: tuple[int, ...]
    actions: ActionSpace
    pictures_per_second: int
    scale: int

    def reset(self) -> Seen:
        """Begin the episode."""
        ...

    def step(self, action: Action) -> Seen:
        """Take one action."""
        ...

    def close(self) -> None:
        """End the environment."""
        ...


class AtariStage:
    """The training emulator, which cannot show pictures, and a twin that can: same seed, same actions, same game."""

    pictures_per_second = 60
    scale = 2

    def __init__(self, config: RunConfig, seed: int) -> None:
        self._games = AtariEnvironments(config.env, 1, 1, config.max_noops, seed % SEEDS)
        self.observation_shape = self._games.observation_shape
        self.actions = self._games.actions
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self._twin = ale_py.ALEInterface()
        self._twin.setFloat("repeat_action_probability", 0.0)
        self._twin.setInt("random_seed", seed % SEEDS)
        rom = get_rom_path(rom_of(config.env))
        if rom is None:
            raise FileNotFoundError(f"this installation has no ROM of {config.env}")
        self._twin.loadROM(rom)
        self._legal = self._twin.getMinimalActionSet()

    def reset(self) -> Seen:
        observations = self._games.reset()
        self._twin.reset_game()
        frames = int(self._games.opening_frames[0])
        # As the training emulator opens a game: FIRE where the game has it, then no-ops.
        if ale_py.Action.FIRE in self._legal:
            self._twin.act(ale_py.Action.FIRE)
            frames -= 1
        for _ in range(frames):
            self._twin.act(ale_py.Action.NOOP)
        return Seen([self._twin.getScreenRGB()], observations[0], reward=0.0, over=False)

    def step(self, action: Action) -> Seen:
        number = int(action)
        self._games.send(np.array([number], dtype=np.int64))
        step = self._games.receive()
        pictures, reward = [], 0
        for _ in range(self._games.frames_per_step):
            reward += self._twin.act(self._legal[number])
            pictures.append(self._twin.getScreenRGB())
            if self._twin.game_over():
                break
        if reward != step.rewards[0] or self._twin.game_over() != step.terminated[0]:
            raise RuntimeError("the picture's emulator played another game than the agent's: the replay would be false")
        return Seen(pictures, step.observations[0], float(reward), bool(step.terminated[0] or step.truncated[0]))

    def close(self) -> None:
        self._games.close()


class GymnasiumStage:
    """One of gymnasium's environments or our worlds, drawn by itself."""

    scale = 1

    def __init__(self, config: RunConfig, seed: int) -> None:
        self._env = _drawn(config)
        self.actions = action_space(config.env, self._env.action_space)
        self.observation_shape = self._env.observation_space.shape or ()
        self.pictures_per_second = int(self._env.metadata["render_fps"])
        self._seed = seed % SEEDS

    def reset(self) -> Seen:
        observation, _ = self._env.reset(seed=self._seed)
        return Seen(self._pictures(), observed(observation), reward=0.0, over=False)

    def step(self, action: Action) -> Seen:
        if isinstance(self.actions, Continuous):
            action = np.clip(action, self.actions.low, self.actions.high).astype(np.float32)
        observation, reward, terminated, truncated, _ = self._env.step(action)
        return Seen(self._pictures(), observed(observation), float(reward), over=bool(terminated or truncated))

    def close(self) -> None:
        self._env.close()

    def _pictures(self) -> list[Frame]:
        # All since the last call: a world that repeats actions draws several a step.
        pictures = cast(list[Frame], self._env.render())
        return [np.asarray(picture) for picture in pictures]


def _drawn(config: RunConfig) -> gymnasium.Env[Any, Any]:
    if config.environment.group != "MuJoCo":
        return gymnasium.make(config.env, render_mode="rgb_array_list")
    from workers.trainer.worlds import physics  # loads the physics engine

    physics.hear_warnings()
    return physics.Filmed(gymnasium.make(config.env))


def open_stage(config: RunConfig, seed: int) -> Stage:
    """Open the run's environment, seeded."""
    return AtariStage(config, seed) if config.environment.kind == "atari" else GymnasiumStage(config, seed)

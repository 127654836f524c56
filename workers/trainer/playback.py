"""One environment that also shows its pictures; an agent meets in it what it met in training."""

from dataclasses import dataclass
from typing import Protocol

import ale_py
import gymnasium
import numpy as np
from ale_py.roms import get_rom_path

from workers.trainer.config import RunConfig
from workers.trainer.environments import AtariEnvironments, Observations, action_space
from workers.trainer.games import rom_of
from workers.trainer.spaces import ActionSpace
from workers.trainer.video import Frame

# Seeds that the emulator takes.
SEEDS = 2**31 - 1


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

    def step(self, action: int) -> Seen:
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

    def step(self, action: int) -> Seen:
        self._games.send(np.array([action], dtype=np.int64))
        step = self._games.receive()
        pictures, reward = [], 0
        for _ in range(self._games.frames_per_step):
            reward += self._twin.act(self._legal[action])
            pictures.append(self._twin.getScreenRGB())
            if self._twin.game_over():
                break
        if reward != step.rewards[0] or self._twin.game_over() != step.terminated[0]:
            raise RuntimeError("the picture's emulator played another game than the agent's: the replay would be false")
        return Seen(pictures, step.observations[0], float(reward), bool(step.terminated[0] or step.truncated[0]))

    def close(self) -> None:
        self._games.close()


class GymnasiumStage:
    """One of gymnasium's own environments, drawn by itself."""

    scale = 1

    def __init__(self, config: RunConfig, seed: int) -> None:
        self._env = gymnasium.make(config.env, render_mode="rgb_array")
        self.actions = action_space(config.env, self._env.action_space)
        self.observation_shape = self._env.observation_space.shape or ()
        self.pictures_per_second = int(self._env.metadata["render_fps"])
        self._seed = seed % SEEDS

    def reset(self) -> Seen:
        observation, _ = self._env.reset(seed=self._seed)
        return Seen([self._picture()], np.asarray(observation, dtype=np.float32), reward=0.0, over=False)

    def step(self, action: int) -> Seen:
        observation, reward, terminated, truncated, _ = self._env.step(action)
        return Seen(
            [self._picture()], np.asarray(observation, dtype=np.float32), float(reward), bool(terminated or truncated)
        )

    def close(self) -> None:
        self._env.close()

    def _picture(self) -> Frame:
        return np.asarray(self._env.render(), dtype=np.uint8)


def open_stage(config: RunConfig, seed: int) -> Stage:
    """Open the run's environment, seeded."""
    return AtariStage(config, seed) if config.environment.kind == "atari" else GymnasiumStage(config, seed)

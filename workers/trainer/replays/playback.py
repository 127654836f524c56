"""A single environment that also yields pictures; the agent sees the same observations as in training."""

from dataclasses import dataclass
from typing import Any, Protocol, cast

import ale_py
import gymnasium
import numpy as np
from ale_py.roms import get_rom_path

from workers.contract.config import TrainingConfig
from workers.contract.games import rom_of
from workers.contract.spaces import ActionSpace, Continuous
from workers.trainer.environments.environments import AtariEnvironments, Observations, action_space, observed
from workers.trainer.replays.players import Action
from workers.trainer.replays.video import Frame

# The emulator takes seeds below this.
SEEDS = 2**31 - 1


@dataclass(frozen=True)
class Seen:
    """The result of one action: its pictures in order, and what the agent receives."""

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
    """The training emulator, which has no pictures, beside a twin that has: same seed, same actions, same game."""

    pictures_per_second = 60
    scale = 2

    def __init__(self, config: TrainingConfig, seed: int) -> None:
        self._games = AtariEnvironments(config, 1, 1, seed % SEEDS)
        self.observation_shape = self._games.observation_shape
        self.actions = self._games.actions
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self._twin = ale_py.ALEInterface()
        self._twin.setFloat("repeat_action_probability", config.repeat_action_probability)
        self._twin.setInt("random_seed", seed % SEEDS)
        rom = get_rom_path(rom_of(config.env))
        if rom is None:
            raise FileNotFoundError(f"this installation has no ROM of {config.env}")
        self._twin.loadROM(rom)
        full = config.action_set == "full"
        self._legal = self._twin.getLegalActionSet() if full else self._twin.getMinimalActionSet()
        self._fires = config.fire_at_reset and ale_py.Action.FIRE in self._twin.getMinimalActionSet()

    def reset(self) -> Seen:
        observations = self._games.reset()
        for _ in range(self._games.opening_resets[0]):
            self._twin.reset_game()
        frames = int(self._games.opening_frames[0])
        # Open the game as the training emulator does: FIRE if it is to and the game has it, then no-ops.
        if self._fires:
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
            raise RuntimeError("the emulator for pictures played a different game from the agent's: no replay recorded")
        return Seen(pictures, step.observations[0], float(reward), bool(step.terminated[0] or step.truncated[0]))

    def close(self) -> None:
        self._games.close()


class GymnasiumStage:
    """One of gymnasium's environments or our worlds, which draws its own pictures."""

    scale = 1

    def __init__(self, config: TrainingConfig, seed: int) -> None:
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
        # `render` returns all pictures since the last call; worlds that repeat actions draw several a step.
        pictures = cast(list[Frame], self._env.render())
        return [np.asarray(picture) for picture in pictures]


def _drawn(config: TrainingConfig) -> gymnasium.Env[Any, Any]:
    if config.environment.group != "MuJoCo":
        return gymnasium.make(config.env, render_mode="rgb_array_list")
    from workers.trainer.environments.worlds import physics  # loads the physics engine

    physics.hear_warnings()
    return physics.Filmed(gymnasium.make(config.env))


def open_stage(config: TrainingConfig, seed: int) -> Stage:
    """Open the run's environment with this seed."""
    return AtariStage(config, seed) if config.environment.kind == "atari" else GymnasiumStage(config, seed)

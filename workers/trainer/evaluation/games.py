"""One environment, played an episode at a time."""

from typing import Any, Protocol

import gymnasium
import numpy as np

from workers.contract.games import ENVIRONMENTS
from workers.contract.spaces import ActionSpace, Continuous
from workers.trainer.environments.environments import Observations, action_space, observed
from workers.trainer.replays.players import Action


class Game(Protocol):
    """An environment with its own count of what happens in it."""

    observation_shape: tuple[int, ...]
    actions: ActionSpace
    frames_per_step: int
    observation: Observations
    # Since the reset.
    score: float
    frames: int
    over: bool
    # Whether a cap or a limit of time ended the episode.
    cut_off: bool

    def begin(self, seed: int) -> None:
        """Reset to the beginning of an episode."""
        ...

    def step(self, action: Action) -> None:
        """Take one decision of the agent."""
        ...

    def close(self) -> None:
        """End the environment."""
        ...


class GymnasiumGame:
    """One of gymnasium's environments or our worlds."""

    def __init__(self, env: str) -> None:
        if ENVIRONMENTS[env].group.startswith("MuJoCo"):
            from workers.trainer.environments.worlds import physics  # loads the physics engine

            physics.hear_warnings()
        self._env: gymnasium.Env[Any, Any] = gymnasium.make(env)
        self.actions = action_space(env, self._env.action_space)
        self.observation_shape = self._env.observation_space.shape or ()
        self.frames_per_step = ENVIRONMENTS[env].frames_per_step

    def begin(self, seed: int) -> None:
        observation, _ = self._env.reset(seed=seed)
        self.observation = observed(observation)
        self.score, self.frames, self.over, self.cut_off = 0.0, 0, False, False

    def step(self, action: Action) -> None:
        if isinstance(self.actions, Continuous):
            action = np.clip(action, self.actions.low, self.actions.high).astype(np.float32)
        observation, reward, terminated, truncated, _ = self._env.step(action)
        self.observation = observed(observation)
        self.score += float(reward)
        self.frames += self.frames_per_step
        self.over, self.cut_off = bool(terminated or truncated), bool(truncated and not terminated)

    def close(self) -> None:
        self._env.close()

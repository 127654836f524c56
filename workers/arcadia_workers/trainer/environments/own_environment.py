"""An actor-learner's own copy of the environment (Mnih et al. 2016, section 4)."""

from dataclasses import dataclass

import numpy as np

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import Actions, Observations


@dataclass(frozen=True)
class Outcome:
    """Result of one action.

    `reward` is clipped if the run clips rewards. `terminal` means that no return follows; a lost life can be terminal
    too. `over` means that the episode has ended. If it is over but not terminal, a time limit cut it off, and the
    learner bootstraps from the value of the last observation.
    """

    reward: float
    terminal: bool
    over: bool


@dataclass(frozen=True)
class FinishedEpisode:
    """Raw return and length of a finished episode."""

    episode_return: float
    length: int


class OwnEnvironment:
    """Single environment, stepped by single actions."""

    def __init__(self, config: TrainingConfig, seed: int) -> None:
        self._environments = environments.make(config, 1, seed)
        self.actions = self._environments.actions
        self.observation_shape = self._environments.observation_shape
        self._clips = config.clip_rewards
        self._life_loss_ends = config.life_loss_ends_episode
        self._ignored = arbitrary_action(self.actions)
        self._return, self._length = 0.0, 0
        # The current observation, with a leading dimension of one.
        self.observation: Observations = self._environments.reset()

    def step(self, action: Actions) -> Outcome:
        """Take one action and update `observation`."""
        self._environments.send(action)
        step = self._environments.receive()
        self.observation = step.observations
        reward = float(step.rewards[0])
        self._return += reward
        self._length += 1
        terminated = bool(step.terminated[0])
        return Outcome(
            reward=min(max(reward, -1.0), 1.0) if self._clips else reward,
            terminal=terminated or (self._life_loss_ends and bool(step.life_lost[0])),
            over=terminated or bool(step.truncated[0]),
        )

    def begin_again(self) -> FinishedEpisode:
        """Start the next episode after an `over` step, and return the finished one."""
        ended = FinishedEpisode(self._return, self._length)
        self._return, self._length = 0.0, 0
        self._environments.send(self._ignored)
        self.observation = self._environments.receive().observations
        return ended

    def close(self) -> None:
        """End the environment."""
        self._environments.close()


def arbitrary_action(actions: ActionSpace) -> Actions:
    """Return an action for the step that opens an episode, which ignores it."""
    if isinstance(actions, Continuous):
        return np.zeros((1, actions.size), dtype=np.float32)
    return np.zeros(1, dtype=np.int64)


def interface(config: TrainingConfig) -> tuple[tuple[int, ...], ActionSpace]:
    """Return the shape of the run's observations, and its action space."""
    opened = environments.make(config, 1, config.seed)
    opened.close()
    return opened.observation_shape, opened.actions

"""An actor-learner's own copy of the environment (Mnih et al. 2016, section 4)."""

from dataclasses import dataclass

import numpy as np

from workers.trainer import environments
from workers.trainer.config import TrainingConfig
from workers.trainer.environments import Actions, Observations
from workers.trainer.spaces import ActionSpace, Continuous


@dataclass(frozen=True)
class Outcome:
    """What one action led to.

    `reward` is what the learner learns from, clipped if the run clips. After a `terminal` step there is no return to
    come; a lost life can be one. After an `over` step the episode has ended: if it is not terminal, a time limit cut
    it off, and the value of the last observation stands for what would have come.
    """

    reward: float
    terminal: bool
    over: bool


@dataclass(frozen=True)
class Episode:
    """An episode that has ended, by its raw return."""

    episode_return: float
    length: int


class OwnEnvironment:
    """One environment, one step at a time."""

    def __init__(self, config: TrainingConfig, seed: int) -> None:
        self._environments = environments.make(config, 1, seed)
        self.actions = self._environments.actions
        self.observation_shape = self._environments.observation_shape
        self._clips = config.clip_rewards
        self._life_loss_ends = config.life_loss_ends_episode
        self._ignored = action_of_nobody(self.actions)
        self._return, self._length = 0.0, 0
        # What the agent sees now, with a leading dimension of one.
        self.observation: Observations = self._environments.reset()

    def step(self, action: Actions) -> Outcome:
        """Act once; `observation` is then what this led to."""
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

    def begin_again(self) -> Episode:
        """After an `over` step: begin the next episode, and return the one that has ended."""
        ended = Episode(self._return, self._length)
        self._return, self._length = 0.0, 0
        self._environments.send(self._ignored)
        self.observation = self._environments.receive().observations
        return ended

    def close(self) -> None:
        """End the environment."""
        self._environments.close()


def action_of_nobody(actions: ActionSpace) -> Actions:
    """Any action, for the step that opens an episode and ignores it."""
    if isinstance(actions, Continuous):
        return np.zeros((1, actions.size), dtype=np.float32)
    return np.zeros(1, dtype=np.int64)


def interface(config: TrainingConfig) -> tuple[tuple[int, ...], ActionSpace]:
    """The shape of the run's observations, and its actions."""
    opened = environments.make(config, 1, config.seed)
    opened.close()
    return opened.observation_shape, opened.actions

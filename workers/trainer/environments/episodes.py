"""Counter of steps and raw returns of episodes."""

import numpy as np

from workers.trainer.environments.environments import Flags, Floats
from workers.trainer.run.run import TrainingRun


class EpisodeBook:
    """Counter of the steps and frames of a batch of environments, and of each episode's return and length."""

    def __init__(self, run: TrainingRun, num_envs: int, frames_per_step: int, step: int) -> None:
        self._run = run
        self._returns = np.zeros(num_envs, dtype=np.float64)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._frames_per_step = frames_per_step
        self.step = step

    @property
    def frames(self) -> int:
        """The number of emulator frames so far."""
        return self.step * self._frames_per_step

    def record(self, rewards: Floats, ended: Flags, fresh: Flags) -> None:
        """Record one step of all environments. Fresh ones took no decision and do not count."""
        decided = ~fresh
        self.step += int(np.count_nonzero(decided))
        self._returns += rewards
        self._lengths += decided
        for i in np.flatnonzero(ended):
            self._run.episode(self.step, self.frames, float(self._returns[i]), int(self._lengths[i]))
            self._returns[i] = 0
            self._lengths[i] = 0

"""Counts steps and adds up the raw return of every episode."""

import numpy as np

from workers.trainer.environments import Step
from workers.trainer.run import Run


class EpisodeBook:
    """Follows a batch of environments: the step and frame counters, and each environment's episode so far."""

    def __init__(self, run: Run, num_envs: int, frames_per_step: int, step: int) -> None:
        self._run = run
        self._returns = np.zeros(num_envs, dtype=np.float64)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._frames_per_step = frames_per_step
        self.step = step

    @property
    def frames(self) -> int:
        """Emulator frames so far."""
        return self.step * self._frames_per_step

    def record(self, step: Step, columns: slice) -> None:
        """Take in one step of some environments; fresh rows are no decisions and count nothing."""
        decided = ~step.fresh
        self.step += int(np.count_nonzero(decided))
        self._returns[columns] += step.rewards
        self._lengths[columns] += decided
        for i in np.flatnonzero(step.terminated | step.truncated) + columns.start:
            self._run.episode(self.step, self.frames, float(self._returns[i]), int(self._lengths[i]))
            self._returns[i] = 0
            self._lengths[i] = 0

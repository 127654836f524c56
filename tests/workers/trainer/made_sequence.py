"""An environment that plays a prepared sequence of states."""

import numpy as np

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.trainer.environments.environments import Actions
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode, Outcome, OwnEnvironment

ACTIONS, READINGS = 3, 30
ROWS = 120


class MadeSequence(OwnEnvironment):
    """An environment with prepared states. `ends` gives the steps with a terminal state, time limit or lost life."""

    def __init__(self, ends: dict[int, str]) -> None:
        self.actions, self.observation_shape = Discrete(ACTIONS), (READINGS,)
        self._states = np.random.default_rng(1).standard_normal((ROWS, 1, READINGS)).astype(np.float32)
        self._ends = ends
        self._row = 0
        self.taken: list[int] = []
        self.observation = self._states[0]

    def step(self, action: Actions) -> Outcome:
        self.taken.append(int(action[0]))
        end = self._ends.get(len(self.taken), "")
        self._go_on()
        reward = float(np.sin(len(self.taken)) + 0.3 * int(action[0]))
        return Outcome(reward, terminal=end in ("terminal", "life"), over=end in ("terminal", "truncated"))

    def begin_again(self) -> FinishedEpisode:
        self._go_on()
        return FinishedEpisode(0.0, 0)

    def close(self) -> None:
        pass

    def _go_on(self) -> None:
        self._row += 1
        self.observation = self._states[self._row]

"""Identity: choose the action that is shown."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from workers.trainer.environments.worlds.painting import ORANGE, Picture, enlarged, ground

ACTIONS = 4
STEPS = 10

Shown = NDArray[np.float32]


class Identity(gymnasium.Env[Shown, np.int64]):
    """Identity task. Every step shows an action. Choosing it pays +1, any other −1. An episode has ten steps."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012, as gymnasium declares it

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = Box(0.0, 1.0, (ACTIONS,), np.float32)
        self.action_space = Discrete(ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Shown, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._time = 0
        return self._another(), {}

    def step(self, action: np.int64) -> tuple[Shown, float, bool, bool, dict[str, Any]]:
        reward = 1.0 if int(action) == self._wanted else -1.0
        self._time += 1
        return self._another(), reward, self._time == STEPS, False, {}

    def render(self) -> Picture:
        cells = ground(3, 2 * ACTIONS + 1)
        cells[1, 2 * self._wanted + 1] = ORANGE
        return enlarged(cells, 48)

    def _another(self) -> Shown:
        self._wanted = int(self.np_random.integers(ACTIONS))
        shown = np.zeros(ACTIONS, dtype=np.float32)
        shown[self._wanted] = 1
        return shown

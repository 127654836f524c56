"""Recall: a cue is shown once and must be named several steps later. An agent without memory can only guess."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from workers.trainer.environments.worlds.painting import BLUE, LIGHT, ORANGE, Picture, enlarged, ground

CUES = 2
BLANKS = 2

Shown = NDArray[np.float32]


class Recall(gymnasium.Env[Shown, np.int64]):
    """Recall task. An episode shows the cue, then blanks, then the question. Only the answer counts.

    The action of the cue pays +1, any other −1. Observations have one number per cue and one for the question.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012, as gymnasium declares it

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = Box(0.0, 1.0, (CUES + 1,), np.float32)
        self.action_space = Discrete(CUES)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Shown, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._cue, self._time = int(self.np_random.integers(CUES)), 0
        return self._shown(), {}

    def step(self, action: np.int64) -> tuple[Shown, float, bool, bool, dict[str, Any]]:
        answered = self._time == BLANKS + 1
        self._time += 1
        right = 1.0 if int(action) == self._cue else -1.0
        return self._shown(), right if answered else 0.0, answered, False, {}

    def render(self) -> Picture:
        cells = ground(3, 2 * CUES + 1)
        for cue, number in enumerate(self._shown()[:CUES]):
            cells[1, 2 * cue + 1] = (ORANGE, BLUE)[cue] if number else cells[0, 0]
        if self._time == BLANKS + 1:
            cells[1, 1:-1] = LIGHT
        return enlarged(cells, 48)

    def _shown(self) -> Shown:
        shown = np.zeros(CUES + 1, dtype=np.float32)
        if self._time == 0:
            shown[self._cue] = 1
        shown[CUES] = self._time == BLANKS + 1
        return shown

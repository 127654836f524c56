"""Catch: a ball falls down a small board, and the paddle must be where it lands."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from workers.trainer.environments.worlds.painting import LIGHT, ORANGE, Picture, enlarged, ground

ROWS, COLUMNS = 6, 5

Board = NDArray[np.float32]


class Catch(gymnasium.Env[Board, np.int64]):
    """Catch task. Actions: left, stay, right. A caught ball pays +1 and a missed one −1, at the end of its fall."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012, as gymnasium declares it

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = Box(0.0, 1.0, (ROWS * COLUMNS,), np.float32)
        self.action_space = Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Board, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._row, self._ball, self._paddle = 0, int(self.np_random.integers(COLUMNS)), COLUMNS // 2
        return self._board(), {}

    def step(self, action: np.int64) -> tuple[Board, float, bool, bool, dict[str, Any]]:
        self._paddle = min(max(self._paddle + int(action) - 1, 0), COLUMNS - 1)
        self._row += 1
        landed = self._row == ROWS - 1
        caught = 1.0 if self._paddle == self._ball else -1.0
        return self._board(), caught if landed else 0.0, landed, False, {}

    def render(self) -> Picture:
        cells = ground(ROWS, COLUMNS)
        cells[ROWS - 1, self._paddle] = LIGHT
        cells[self._row, self._ball] = ORANGE
        return enlarged(cells, 48)

    def _board(self) -> Board:
        board = np.zeros(ROWS * COLUMNS, dtype=np.float32)
        board[(ROWS - 1) * COLUMNS + self._paddle] = 1
        board[self._row * COLUMNS + self._ball] = 1
        return board

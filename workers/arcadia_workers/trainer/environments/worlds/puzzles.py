"""Small environments that are learned in seconds: Catch, Recall, Identity and Target."""

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Color = tuple[int, int, int]

GROUND: Final[Color] = (24, 28, 38)
LIGHT: Final[Color] = (240, 240, 235)
ORANGE: Final[Color] = (255, 160, 60)
BLUE: Final[Color] = (90, 160, 255)


def ground(rows: int, columns: int) -> Picture:
    """Return an empty picture."""
    return np.full((rows, columns, 3), GROUND, dtype=np.uint8)


def enlarged(cells: Picture, scale: int) -> Picture:
    """Enlarge every cell to a square of pixels."""
    return cells.repeat(scale, axis=0).repeat(scale, axis=1)


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


ACTIONS = 4
IDENTITY_STEPS = 10


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
        return self._another(), reward, self._time == IDENTITY_STEPS, False, {}

    def render(self) -> Picture:
        cells = ground(3, 2 * ACTIONS + 1)
        cells[1, 2 * self._wanted + 1] = ORANGE
        return enlarged(cells, 48)

    def _another(self) -> Shown:
        self._wanted = int(self.np_random.integers(ACTIONS))
        shown = np.zeros(ACTIONS, dtype=np.float32)
        shown[self._wanted] = 1
        return shown


TARGET_STEPS = 5
SIDE = 49  # cells of the picture, whose middle is (0, 0)

Point = NDArray[np.float32]


class Target(gymnasium.Env[Point, Point]):
    """Target task. Every step shows a new point. The reward is minus its squared distance. An episode has 5 steps."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 3}  # noqa: RUF012, as gymnasium declares it

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = Box(-1.0, 1.0, (2,), np.float32)
        self.action_space = Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Point, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._time = 0
        self._hit: Point | None = None
        self._point = self._another()
        return self._point.copy(), {}

    def step(self, action: Point) -> tuple[Point, float, bool, bool, dict[str, Any]]:
        reward = -float(((action - self._point) ** 2).sum())
        self._time += 1
        # Pictures show the last point together with the action that aimed at it.
        self._aimed_at, self._hit = self._point, action
        self._point = self._another()
        return self._point.copy(), reward, self._time == TARGET_STEPS, False, {}

    def render(self) -> Picture:
        cells = ground(SIDE, SIDE)
        if self._hit is None:
            _spot(cells, self._point, ORANGE)
        else:
            _spot(cells, self._aimed_at, ORANGE)
            _spot(cells, self._hit, LIGHT)
        return enlarged(cells, 6)

    def _another(self) -> Point:
        return self.np_random.uniform(-1, 1, 2).astype(np.float32)


def _spot(cells: Picture, point: Point, color: tuple[int, int, int]) -> None:
    column, row = (round(1 + (SIDE - 3) * (coordinate + 1) / 2) for coordinate in (point[0], -point[1]))
    cells[row - 1 : row + 2, column - 1 : column + 2] = color

"""Target: set two numbers to the values shown."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from workers.trainer.environments.worlds.painting import LIGHT, ORANGE, Picture, enlarged, ground

STEPS = 5
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
        return self._point.copy(), reward, self._time == STEPS, False, {}

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

"""Labyrinth: find apples and the portal in a maze seen from inside (Mnih et al. 2016, section 5.4)."""

import math
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from workers.trainer.environments.worlds.eye import APPLE, PORTAL, Eye, Placed
from workers.trainer.environments.worlds.maze import dig

SIDE, FILM_SIDE = 84, 336
FRAMES_PER_SECOND = 60
FRAMES_PER_STEP = 4
SECONDS = 60
STEPS = SECONDS * FRAMES_PER_SECOND // FRAMES_PER_STEP

APPLES = 10
APPLE_REWARD, PORTAL_REWARD = 1.0, 10.0
REACH = 0.45  # of the player's hand, in cells

STRIDE = 5.0 / FRAMES_PER_SECOND  # cells a frame
TURN = math.radians(240) / FRAMES_PER_SECOND
GIRTH = 0.25  # half of the player's width

# What each action does in a frame: (steps ahead, steps to the right, clockwise turns).
FORWARD, TURN_LEFT, TURN_RIGHT, STRAFE_LEFT, STRAFE_RIGHT = range(5)
MOVES = ((1, 0, 0), (0, 0, -1), (0, 0, 1), (0, -1, 0), (0, 1, 0))

Seen = NDArray[np.uint8]


@dataclass
class Pose:
    """Position and heading of the player. Angles grow clockwise."""

    x: float
    y: float
    heading: float


class Labyrinth(gymnasium.Env[Seen, np.int64]):
    """Maze task, with a new maze per episode. Apples pay 1. The portal pays 10, moves the player, restores apples."""

    metadata = {"render_modes": ["rgb_array_list"], "render_fps": FRAMES_PER_SECOND // 2}  # noqa: RUF012, gymnasium's way

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = Box(0, 255, (3, SIDE, SIDE), np.uint8)
        self.action_space = Discrete(len(MOVES))
        self._eye, self._camera = Eye(SIDE), Eye(FILM_SIDE)
        self._pictures: list[RenderFrame] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.maze = dig(self.np_random)
        cells = self.np_random.permutation(self.maze.open_cells) + 0.5
        self.portal = Placed(PORTAL, *cells[0].tolist())
        self.apples = [Placed(APPLE, *cell.tolist()) for cell in cells[1 : APPLES + 1]]
        self._free_cells = cells[APPLES + 1 :]
        self._spawn()
        self._steps = 0
        self._pictures = []
        self._photograph()
        return self._seen(self._eye), {}

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        reward = 0.0
        for frame in range(FRAMES_PER_STEP):
            self._move(*MOVES[int(action)])
            reward += self._take()
            if frame % 2:
                self._photograph()
        self._steps += 1
        return self._seen(self._eye), reward, False, self._steps == STEPS, {}

    def render(self) -> list[RenderFrame]:
        pictures, self._pictures = self._pictures, []
        return pictures

    def _spawn(self) -> None:
        """Put the player at a random place and restore every apple."""
        x, y = self._free_cells[self.np_random.integers(len(self._free_cells))].tolist()
        self.player = Pose(x, y, float(self.np_random.uniform(0, 2 * math.pi)))
        self.apples_left = list(self.apples)

    def _move(self, ahead: int, aside: int, turn: int) -> None:
        player = self.player
        player.heading = (player.heading + turn * TURN) % (2 * math.pi)
        cos, sin = STRIDE * math.cos(player.heading), STRIDE * math.sin(player.heading)
        # Move along one axis after the other, so that walking into a wall at an angle slides along it.
        x = player.x + ahead * cos - aside * sin
        if self._free(x, player.y):
            player.x = x
        y = player.y + ahead * sin + aside * cos
        if self._free(player.x, y):
            player.y = y

    def _free(self, x: float, y: float) -> bool:
        walls = self.maze.walls
        return not any(walls[int(y + dy), int(x + dx)] for dx in (-GIRTH, GIRTH) for dy in (-GIRTH, GIRTH))

    def _take(self) -> float:
        """Take the portal or the apples in reach, and return the reward."""
        if self._reaches(self.portal):
            self._spawn()
            return PORTAL_REWARD
        left = [apple for apple in self.apples_left if not self._reaches(apple)]
        taken, self.apples_left = len(self.apples_left) - len(left), left
        return APPLE_REWARD * taken

    def _reaches(self, placed: Placed) -> bool:
        return math.hypot(placed.x - self.player.x, placed.y - self.player.y) < REACH

    def _seen(self, eye: Eye) -> Seen:
        player = self.player
        return eye.look(self.maze, player.x, player.y, player.heading, [self.portal, *self.apples_left])

    def _photograph(self) -> None:
        if self.render_mode is not None:
            self._pictures.append(self._seen(self._camera).transpose(1, 2, 0))

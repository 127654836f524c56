"""Labyrinth: find apples and the portal in a maze seen from inside (Mnih et al. 2016, section 5.4)."""

import math
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

# Corridors join junctions two cells apart. With the outer walls this makes 2·JUNCTIONS + 1 cells per side.
JUNCTIONS = 6
CELLS = 2 * JUNCTIONS + 1
ROOMS = 3
ROOM_JUNCTIONS = (2, 3)  # rooms are 3×3 to 5×5 cells
COLORS = 6
COLORED_ALIKE = 4  # side of the areas whose walls share one color, as landmarks


@dataclass(frozen=True)
class Maze:
    """Walls [y, x] and the color index of each wall."""

    walls: NDArray[np.bool_]
    colors: NDArray[np.int64]

    @property
    def open_cells(self) -> NDArray[np.int64]:
        """Return the (x, y) of every cell without a wall."""
        return np.argwhere(~self.walls)[:, ::-1]


def dig(random: np.random.Generator) -> Maze:
    """Connect all junctions by corridors, depth first, then dig the rooms."""
    walls = np.ones((CELLS, CELLS), dtype=np.bool_)
    walls[1, 1] = False
    path = [(1, 1)]
    while path:
        x, y = path[-1]
        ways = [
            (dx, dy)
            for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1))
            if 0 < x + 2 * dx < CELLS and 0 < y + 2 * dy < CELLS and walls[y + 2 * dy, x + 2 * dx]
        ]
        if not ways:
            path.pop()
            continue
        dx, dy = ways[random.integers(len(ways))]
        walls[y + dy, x + dx] = walls[y + 2 * dy, x + 2 * dx] = False
        path.append((x + 2 * dx, y + 2 * dy))
    for _ in range(ROOMS):
        width, height = random.integers(ROOM_JUNCTIONS[0], ROOM_JUNCTIONS[1], 2, endpoint=True)
        x, y = random.integers(JUNCTIONS - width + 1), random.integers(JUNCTIONS - height + 1)
        walls[2 * y + 1 : 2 * (y + height), 2 * x + 1 : 2 * (x + width)] = False
    areas = random.integers(COLORS, size=(CELLS // COLORED_ALIKE + 1,) * 2)
    colors = areas.repeat(COLORED_ALIKE, axis=0).repeat(COLORED_ALIKE, axis=1)[:CELLS, :CELLS]
    return Maze(walls, colors)


Floats = NDArray[np.float64]
Planes = NDArray[np.uint8]

HALF_VIEW = np.tan(np.deg2rad(75) / 2)  # half the width, and half the height, of the view at distance 1
EYE_HEIGHT = 0.5  # walls have height 1
NEAREST = 0.15  # things nearer than this are not drawn
DIMMING = 0.12  # how fast colors darken with distance
DARK_SIDE = 0.7  # brightness of walls that run along x

WALLS = np.array(
    [(220, 70, 60), (70, 170, 80), (70, 110, 220), (220, 190, 70), (170, 90, 200), (80, 190, 200)], dtype=np.float64
)
FLOOR = np.array((120, 110, 100), dtype=np.float64)
CEILING = np.array((60, 65, 80), dtype=np.float64)

# Brightness of the stripes across a wall cell, for each color. The patterns distinguish walls where colors are dim.
STRIPES = np.ones((COLORS, 16))
STRIPES[:, [0, 15]] = 0.5  # joints between cells
for _color in range(COLORS):
    STRIPES[_color, 2 + _color : 14 : 2 + _color] = 0.75


@dataclass(frozen=True)
class Thing:
    """An upright ellipse that faces the viewer, drawn as rings of two colors."""

    half_width: float
    half_height: float
    height: float  # of its center above the floor
    colors: tuple[tuple[int, int, int], tuple[int, int, int]]
    rings: float


APPLE = Thing(0.2, 0.2, 0.2, ((235, 30, 40), (120, 230, 60)), rings=1.3)
PORTAL = Thing(0.32, 0.46, 0.48, ((255, 255, 255), (30, 220, 255)), rings=4)


@dataclass(frozen=True)
class Placed:
    """A thing and its position."""

    thing: Thing
    x: float
    y: float


class Eye:
    """Renderer of square pictures of `side` pixels, as planes of red, green and blue."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._focus = side / 2 / HALF_VIEW
        middle = np.arange(side) + 0.5 - side / 2
        self._across = middle / self._focus  # sideways distance that a column's ray covers per unit ahead
        self._down = middle
        # A row of floor or ceiling has the same distance everywhere.
        ground = dimmed(EYE_HEIGHT * self._focus / np.abs(middle))[:, None]
        rows = (np.where(middle[:, None] > 0, FLOOR, CEILING) * ground).astype(np.uint8)
        # A contiguous array, plane by plane: with a view, `look` takes 50 % longer.
        self._backdrop = np.repeat(rows.T[:, :, None], side, axis=2)

    def look(self, maze: Maze, x: float, y: float, heading: float, placed: list[Placed]) -> Planes:
        """Draw the view from (x, y) in the direction `heading`; y is to the right of x, so angles grow clockwise."""
        ahead, right = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
        distance, colors = self._meet_walls(maze, np.array([x, y]), ahead[:, None] + self._across * right[:, None])
        wall = np.abs(self._down)[:, None] < EYE_HEIGHT * self._focus / distance
        picture = np.where(wall, np.ascontiguousarray(colors.T)[:, None, :], self._backdrop)
        self._draw(picture, distance, (x, y), ahead, right, placed)
        return picture

    def _meet_walls(self, maze: Maze, eye: Floats, rays: Floats) -> tuple[Floats, Planes]:
        """Return for each ray (2, columns) the distance ahead of the first wall, and the wall's color (columns, 3)."""
        rays = np.where(np.abs(rays) < 1e-9, 1e-9, rays)
        lines = np.arange(len(maze.walls) + 1.0)
        nearest = []
        for axis in (0, 1):
            # Find all crossings of the rays with this axis's grid lines; each ray's first crossing into a wall counts.
            along, other = rays[axis][:, None], rays[1 - axis][:, None]
            distance = (lines - eye[axis]) / along
            beside = eye[1 - axis] + distance * other
            cells = [(lines - (along < 0)).astype(np.int64), np.floor(beside).astype(np.int64)]
            x, y = (cell.clip(0, len(maze.walls) - 1) for cell in (cells if axis == 0 else reversed(cells)))
            distance = np.where((distance > 0) & maze.walls[y, x], distance, np.inf)
            first = distance.argmin(axis=1)
            columns = np.arange(len(first))
            nearest.append([each[columns, first] for each in (distance, beside, maze.colors[y, x])])
        (x_distance, x_beside, x_color), (y_distance, y_beside, y_color) = nearest
        along_y = x_distance <= y_distance
        distance = np.minimum(x_distance, y_distance)
        color = np.where(along_y, x_color, y_color)
        beside = np.where(along_y, x_beside, y_beside)
        stripe = STRIPES[color, (16 * (beside - np.floor(beside))).astype(np.int64)]
        brightness = stripe * np.where(along_y, 1.0, DARK_SIDE) * dimmed(distance)
        return distance, (WALLS[color] * brightness[:, None]).astype(np.uint8)

    def _draw(
        self,
        picture: Planes,
        walls: Floats,
        eye: tuple[float, float],
        ahead: Floats,
        right: Floats,
        placed: list[Placed],
    ) -> None:
        """Draw the things that are nearer than the wall over the picture, farthest first."""
        seen = []
        for item in placed:
            way = np.array([item.x - eye[0], item.y - eye[1]])
            distance, aside = float(way @ ahead), float(way @ right)
            if distance > NEAREST and abs(aside) < HALF_VIEW * distance + item.thing.half_width:
                seen.append((distance, aside, item.thing))
        for distance, aside, thing in sorted(seen, key=lambda item: -item[0]):
            scale = self._focus / distance
            left, wide = aside * scale + self._side / 2, thing.half_width * scale
            top, tall = (EYE_HEIGHT - thing.height) * scale + self._side / 2, thing.half_height * scale
            columns = slice(max(0, int(left - wide)), max(0, int(left + wide) + 1))
            rows = slice(max(0, int(top - tall)), max(0, int(top + tall) + 1))
            across = (np.arange(self._side)[columns] + 0.5 - left) / wide
            down = (np.arange(self._side)[rows] + 0.5 - top) / tall
            radius = np.sqrt(across**2 + down[:, None] ** 2)
            shown = (radius < 1) & (walls[columns] > distance)
            ring = (thing.rings * radius[shown]).astype(np.int64) % 2
            colors = (np.array(thing.colors) * dimmed(distance)).astype(np.uint8)
            picture[:, rows, columns][:, shown] = colors[ring].T


def dimmed(distance: Floats | float) -> Floats:
    """Return the brightness of things at a distance."""
    return np.asarray(1 / (1 + DIMMING * np.asarray(distance)))


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

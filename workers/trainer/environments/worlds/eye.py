"""First-person pictures of a maze. A ray through every column finds the wall, and things are drawn in front."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.trainer.environments.worlds.maze import COLORS, Maze

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

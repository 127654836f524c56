"""A slow reference renderer of mazes from plain geometry: pixel by pixel, trying every wall cell."""

import math

import numpy as np
from numpy.typing import NDArray

from arcadia_workers.trainer.environments.worlds.labyrinth import (
    CEILING,
    DARK_SIDE,
    DIMMING,
    EYE_HEIGHT,
    FLOOR,
    HALF_VIEW,
    NEAREST,
    STRIPES,
    WALLS,
    Maze,
    Placed,
)

Color = NDArray[np.float64]


def picture(maze: Maze, x: float, y: float, heading: float, placed: list[Placed], side: int) -> NDArray[np.uint8]:
    """Return the red, green and blue planes."""
    planes = np.zeros((3, side, side), dtype=np.uint8)
    for column in range(side):
        across = HALF_VIEW * (2 * (column + 0.5) / side - 1)
        ray = (math.cos(heading) - across * math.sin(heading), math.sin(heading) + across * math.cos(heading))
        distance, wall = first_wall(maze, (x, y), ray)
        for row in range(side):
            down = HALF_VIEW * (2 * (row + 0.5) / side - 1)
            planes[:, row, column] = (
                thing_at(placed, (x, y), heading, across, down, distance)
                or wall_at(distance, wall, down)
                or ground_at(down)
            )
    return planes


def first_wall(maze: Maze, eye: tuple[float, float], ray: tuple[float, float]) -> tuple[float, Color]:
    """Try every wall cell. Return the distance and the color of the first that the ray enters."""
    best, color = math.inf, np.zeros(3)
    for cell_y, cell_x in np.argwhere(maze.walls).tolist():
        enters, leaves = [], []
        for position, direction, low in ((eye[0], ray[0], cell_x), (eye[1], ray[1], cell_y)):
            crossings = sorted(((low - position) / direction, (low + 1 - position) / direction))
            enters.append(crossings[0])
            leaves.append(crossings[1])
        distance = max(enters)
        if 0 < distance < min(*leaves, best):
            best = distance
            met_along_y = enters[0] > enters[1]
            beside = eye[1] + distance * ray[1] if met_along_y else eye[0] + distance * ray[0]
            number = maze.colors[cell_y, cell_x]
            stripe = STRIPES[number, int(16 * (beside - math.floor(beside)))]
            color = WALLS[number] * stripe * (1.0 if met_along_y else DARK_SIDE) / (1 + DIMMING * distance)
    return best, color


def wall_at(distance: float, color: Color, down: float) -> tuple[int, ...] | None:
    height = EYE_HEIGHT - distance * down
    return tuple(color.astype(int)) if 0 < height < 2 * EYE_HEIGHT else None


def ground_at(down: float) -> tuple[int, ...]:
    return tuple(((FLOOR if down > 0 else CEILING) / (1 + DIMMING * EYE_HEIGHT / abs(down))).astype(int))


def thing_at(
    placed: list[Placed], eye: tuple[float, float], heading: float, across: float, down: float, wall: float
) -> tuple[int, ...] | None:
    """Return the color of the nearest thing that this pixel's ray hits before the wall."""
    nearest, color = wall, None
    for item in placed:
        dx, dy = item.x - eye[0], item.y - eye[1]
        distance = dx * math.cos(heading) + dy * math.sin(heading)
        aside = dy * math.cos(heading) - dx * math.sin(heading)
        thing = item.thing
        radius = math.hypot(
            (across * distance - aside) / thing.half_width,
            (EYE_HEIGHT - distance * down - thing.height) / thing.half_height,
        )
        if NEAREST < distance < nearest and radius < 1:
            nearest = distance
            color = tuple(int(part / (1 + DIMMING * distance)) for part in thing.colors[int(thing.rings * radius) % 2])
    return color

"""Random mazes of rooms and corridors."""

from dataclasses import dataclass

import numpy as np
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

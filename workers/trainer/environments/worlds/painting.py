"""Colors and cell pictures of the small environments."""

from typing import Final

import numpy as np
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

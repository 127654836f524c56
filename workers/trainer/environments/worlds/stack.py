"""Stack of the last four gray pictures, as agents see Atari games."""

import numpy as np
from numpy.typing import NDArray

Gray = NDArray[np.uint8]

SIDE = 84
PICTURES = 4

# Shares of red, green and blue in brightness (ITU-R BT.601).
BRIGHTNESS = np.array([0.299, 0.587, 0.114], dtype=np.float32)


class GrayStack:
    """Four 84×84 pictures, the newest last."""

    shape = (PICTURES, SIDE, SIDE)

    def __init__(self) -> None:
        self._pictures: Gray = np.zeros(self.shape, dtype=np.uint8)

    def begin(self, picture: NDArray[np.uint8]) -> Gray:
        """Start an episode by filling the stack with its first picture."""
        self._pictures = np.repeat(_gray(picture)[None], PICTURES, axis=0)
        return self._pictures.copy()

    def add(self, picture: NDArray[np.uint8]) -> Gray:
        """Put a picture on the stack and drop the oldest."""
        self._pictures[:-1] = self._pictures[1:]
        self._pictures[-1] = _gray(picture)
        return self._pictures.copy()


def _gray(picture: NDArray[np.uint8]) -> Gray:
    return (picture.astype(np.float32) @ BRIGHTNESS).astype(np.uint8)

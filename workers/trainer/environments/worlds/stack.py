"""Stack of the last four gray pictures, as agents see Atari games."""

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]

SIDE = 84
PICTURES = 4

# Shares of red, green and blue in brightness (ITU-R BT.601).
BRIGHTNESS = np.array([0.299, 0.587, 0.114], dtype=np.float32)


class GreyStack:
    """Four 84×84 pictures, the newest last."""

    shape = (PICTURES, SIDE, SIDE)

    def __init__(self) -> None:
        self._pictures: Grey = np.zeros(self.shape, dtype=np.uint8)

    def begin(self, picture: NDArray[np.uint8]) -> Grey:
        """Start an episode by filling the stack with its first picture."""
        self._pictures = np.repeat(_grey(picture)[None], PICTURES, axis=0)
        return self._pictures.copy()

    def add(self, picture: NDArray[np.uint8]) -> Grey:
        """Put a picture on the stack and drop the oldest."""
        self._pictures[:-1] = self._pictures[1:]
        self._pictures[-1] = _grey(picture)
        return self._pictures.copy()


def _grey(picture: NDArray[np.uint8]) -> Grey:
    return (picture.astype(np.float32) @ BRIGHTNESS).astype(np.uint8)

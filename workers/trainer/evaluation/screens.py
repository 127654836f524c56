"""Shrink the emulator's grey screens to what agents see: 84 × 84 by area, bit for bit as the training emulator does."""

import numpy as np
from numpy.typing import NDArray

Screen = NDArray[np.uint8]

ROWS, COLUMNS, SIDE = 210, 160, 84


def _taps(pixels: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """For each of SIDE places, list the three pixels under it and their shares of its area; unused ones have none."""
    size = pixels / SIDE
    first = np.floor(np.arange(SIDE) * size + 1e-9).astype(np.int64)
    places = first + np.arange(3)[:, None]
    begin, end = np.arange(SIDE) * size, (np.arange(SIDE) + 1) * size
    shares = (np.minimum(places + 1, end) - np.maximum(places, begin)) / size
    shares = np.where(shares > 1e-6, shares, 0)
    return np.minimum(places, pixels - 1), shares.astype(np.float32)


_X, _OF_X = _taps(COLUMNS)
_Y, _OF_Y = _taps(ROWS)


def shrunk(screen: Screen) -> Screen:
    """Average the pixels under each of the 84 × 84 places; the order of the sums decides how halves are rounded."""
    pixels = screen.astype(np.float32)
    rows = pixels[:, _X[0]] * _OF_X[0]
    rows += pixels[:, _X[1]] * _OF_X[1]
    rows += pixels[:, _X[2]] * _OF_X[2]
    sums = rows[_Y[0]] * _OF_Y[0][:, None]
    sums += rows[_Y[1]] * _OF_Y[1][:, None]
    sums += rows[_Y[2]] * _OF_Y[2][:, None]
    seen: Screen = np.rint(sums).astype(np.uint8)
    return seen

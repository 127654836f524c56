"""Resizing of the emulator's gray screens to 84 × 84 by area, bit for bit as in the training emulator."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Screen = NDArray[np.uint8]
Rows = NDArray[np.float32]

SIDE = 84


def shrunk(screen: Screen) -> Screen:
    """Resize a screen, first horizontally, then vertically."""
    across = _shortened(screen.T.astype(np.float32, order="C")).T
    seen: Screen = np.rint(_shortened(across)).astype(np.uint8)
    return seen


def _shortened(rows: Rows) -> Rows:
    """Average the rows that map to each of SIDE rows. The order of the sums decides how halves are rounded."""
    (row, share), *others = _taps(len(rows))
    sums: Rows = rows[row] * share
    for row, share in others:
        sums += rows[row] * share
    return sums


@cache
def _taps(rows: int) -> tuple[tuple[NDArray[np.int64], Rows], ...]:
    """Return for each tap the row that contributes to each of SIDE rows, with its share of the area."""
    size = rows / SIDE
    first = np.floor(np.arange(SIDE) * size + 1e-9).astype(np.int64)
    under = first + np.arange(int(np.ceil(size)) + 1)[:, None]
    begin, end = np.arange(SIDE) * size, (np.arange(SIDE) + 1) * size
    shares = (np.minimum(under + 1, end) - np.maximum(under, begin)) / size
    shares = np.where(shares > 1e-6, shares, 0).astype(np.float32)
    under = np.minimum(under, rows - 1)
    return tuple((row, share[:, None]) for row, share in zip(under, shares, strict=True) if share.any())

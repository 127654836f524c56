"""Ghosts: one video of all futures, blended picture by picture."""

from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from workers.trainer.games.emulator import AtariGame
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.openings import emulated
from workers.trainer.games.video import Frame, VideoWriter

MAX_DECISIONS = 60


class Ghosts:
    """Writer of a video with one picture per decision that blends the futures. Ended futures disappear.

    A blended picture is halfway between the mean of the pictures and the value that differs most from it. So
    pixels that are equal in all futures are unchanged, and an object of one future remains visible among many.
    """

    def __init__(self, path: Path, game: AtariGame) -> None:
        self._video = VideoWriter(path, round(game.pictures_per_second / game.frames_per_step), game.scale)
        self._first = game.picture()
        self._count = 0

    def see(self, game: PlayableGame) -> None:
        """Add the current picture of a future."""
        if self._video.frames > MAX_DECISIONS:
            return
        picture = emulated(game).picture()
        if self._count == 0:
            self._least, self._most = picture.copy(), picture.copy()
            self._sum: NDArray[np.uint16] = picture.astype(np.uint16)
        else:
            np.minimum(self._least, picture, out=self._least)
            np.maximum(self._most, picture, out=self._most)
            np.add(self._sum, picture, out=self._sum)
        self._count += 1

    def blend(self) -> None:
        """Write the picture of all futures after a decision."""
        if self._count > 0:
            self._video.add(blended(self._least, self._most, self._sum, self._count))
        self._count = 0

    def __enter__(self) -> Self:
        self._video.__enter__()
        self._video.add(self._first)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._video.__exit__(kind, error, trace)


def blended(least: Frame, most: Frame, total: NDArray[np.uint16], count: int) -> Frame:
    """Return the picture halfway between the mean and the value that differs most from it."""
    mean = total.astype(np.float32) / count
    extreme = np.where(most - mean >= mean - least, most, least)
    return ((mean + extreme) / 2).round().astype(np.uint8)

"""Videos of single futures, and of all futures blended."""

import math
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from arcadia_workers.contract.futures import FILMED, Future, FuturesVideo, Shown
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.futures.simulating import Branch, FutureSeeds, Moment
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.playing import emulated
from arcadia_workers.trainer.games.video import Frame, VideoWriter
from arcadia_workers.trainer.recording.recording import StoppedError

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


# Fewer pictures keep the files small. An agent of an Atari game decides 15 times per second.
LEAST_PICTURES_PER_SECOND = 15


class OtherFutureError(TrainerError):
    """The actions of a future do not lead to the same score again."""


def film_some(
    directory: Path | None,
    videos_of: Literal["ranked", "first"],
    moment: Moment,
    branches: Sequence[Branch],
    drawn: Sequence[FutureSeeds],
    futures: Sequence[Future],
    should_stop: Callable[[], bool] = lambda: False,
) -> list[FuturesVideo]:
    """Render the futures with the best, median and worst return, or the first ones. Without a directory, do nothing."""
    if directory is None:
        return []
    order = np.argsort([each.discounted_return for each in futures], kind="stable").tolist()
    chosen: list[tuple[Shown, int]] = [("best", order[-1]), ("median", order[len(order) // 2]), ("worst", order[0])]
    if videos_of == "first":
        chosen = [("first", number) for number in range(FILMED)]
    videos = []
    for shows, number in chosen:
        file = f"future-{number if shows == 'first' else shows}.mp4"
        film(directory / file, moment, branches[number], drawn[number].game_seed, should_stop)
        videos.append(FuturesVideo(shows=shows, future=number, file=file))
    return videos


def film(path: Path, moment: Moment, branch: Branch, game_seed: int, should_stop: Callable[[], bool]) -> None:
    """Render a future, from the picture of the decision to its end."""
    game = moment.game.filmed_branch(game_seed)
    stride, rate = thinned(game.pictures_per_second)
    numbers = count()
    try:
        with VideoWriter(path, rate, game.scale) as video:

            def show(picture: Frame) -> None:
                if next(numbers) % stride == 0:
                    video.add(picture)

            game.show(show)
            for action in branch.actions:
                if should_stop():
                    raise StoppedError("the futures were stopped")
                game.step(action)
            if not math.isclose(game.score, branch.game.score, rel_tol=1e-6, abs_tol=1e-6):
                raise OtherFutureError(
                    f"the actions of a future led to {game.score:g} points in its video, not {branch.game.score:g}: "
                    "simulate without videos"
                )
    finally:
        game.close()


def thinned(pictures_per_second: int) -> tuple[int, int]:
    """Return the distance between kept pictures, and their number per second: at least 15 if possible."""
    strides = [
        stride
        for stride in range(1, pictures_per_second + 1)
        if pictures_per_second % stride == 0 and pictures_per_second // stride >= LEAST_PICTURES_PER_SECOND
    ]
    stride = max(strides, default=1)
    return stride, pictures_per_second // stride

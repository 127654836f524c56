"""Videos of single futures, played again from their actions."""

import math
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from workers.contract.futures import Future, FuturesVideo, Shown
from workers.trainer.errors import TrainerError
from workers.trainer.futures.moments import Moment
from workers.trainer.futures.simulating import Branch, FutureSeeds
from workers.trainer.games.video import Frame, VideoWriter
from workers.trainer.recording.recording import StoppedError

# Fewer pictures keep the files small. An agent of an Atari game decides 15 times per second.
LEAST_PICTURES_PER_SECOND = 15


class OtherFutureError(TrainerError):
    """The actions of a future do not lead to the same score again."""


def film_some(
    directory: Path,
    moment: Moment,
    branches: Sequence[Branch],
    drawn: Sequence[FutureSeeds],
    futures: Sequence[Future],
    should_stop: Callable[[], bool] = lambda: False,
) -> list[FuturesVideo]:
    """Render the futures with the best, median and worst return."""
    order = np.argsort([each.discounted_return for each in futures], kind="stable")
    chosen: dict[Shown, int] = {"best": order[-1], "median": order[len(order) // 2], "worst": order[0]}
    videos = []
    for shows, future in chosen.items():
        file = f"future-{shows}.mp4"
        film(directory / file, moment, branches[future], drawn[future].game_seed, should_stop)
        videos.append(FuturesVideo(shows=shows, future=int(future), file=file))
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

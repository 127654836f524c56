"""Videos of kept games, replayed from the actions."""

import math
from collections.abc import Callable
from pathlib import Path

from workers.contract.games import ENVIRONMENTS
from workers.contract.jobs import FilmParameters
from workers.contract.protocols.starts import after, before
from workers.trainer.errors import TrainerError
from workers.trainer.games.emulator import AtariGame
from workers.trainer.games.games import GymnasiumGame, PlayableGame
from workers.trainer.games.video import Frame, VideoWriter, drop, write_png
from workers.trainer.recording.recording import StoppedError

FILM, POSTER = "kept-game.mp4", "kept-game.png"


class OtherGameError(TrainerError):
    """The actions of a kept game do not lead to the same result."""


def film(
    which: FilmParameters, directory: Path, advance: Callable[[int], None], should_stop: Callable[[], bool]
) -> None:
    """Render the video of a kept game. `advance` receives the number of finished frames."""
    game = _open(which)
    with VideoWriter(directory / FILM, game.pictures_per_second, game.scale) as video:

        def show(picture: Frame) -> None:
            if should_stop():
                raise StoppedError("the film was stopped")
            video.add(picture)
            advance(game.frames)

        game.begin(which.seed)
        game.show(drop)
        game.hold(before(which.actions, which.skipped))
        game.show(show)
        game.hold(after(which.actions, which.skipped))
        if game.frames != which.played or not math.isclose(game.score, which.score):
            raise OtherGameError(
                f"the actions led to {game.score:g} points in {game.frames} frames with {game.emulator}, not "
                f"{which.score:g} in {which.played}: the game was played with another emulator"
            )
        game.show(lambda picture: write_png(directory / POSTER, picture, game.scale))


def _open(which: FilmParameters) -> PlayableGame:
    if ENVIRONMENTS[which.env].family.simulator == "ale":
        sticky = which.repeat_action_probability
        return AtariGame(which.env, cap_frames=None, frames_per_step=1, repeat_action_probability=sticky)
    return GymnasiumGame(which.env, filmed=True)

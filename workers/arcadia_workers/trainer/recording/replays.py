"""Replays in a run's directory, named after their checkpoint, and the video of a kept game."""

import math
from collections.abc import Callable
from pathlib import Path

from arcadia_workers.contract import layout
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.config.emulator import protocol_of
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.jobs import FilmParameters, RecordingParameters
from arcadia_workers.contract.live import KeptActions
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.starts import after, before
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import GymnasiumGame, PlayableGame
from arcadia_workers.trainer.games.video import Frame, VideoWriter, drop, write_png
from arcadia_workers.trainer.recording.recording import Files, RecordedEpisode, StoppedError, record
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint
from arcadia_workers.trainer.run.recorder import RecordedReplay

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
        check_result(game, which)
        game.show(lambda picture: write_png(directory / POSTER, picture, game.scale))


def check_result(game: PlayableGame, kept: KeptActions) -> None:
    """Raise OtherGameError if the actions of a kept game have led to another result."""
    if game.frames != kept.played or not math.isclose(game.score, kept.score):
        raise OtherGameError(
            f"the actions led to {game.score:g} points in {game.frames} frames with {game.emulator}, not "
            f"{kept.score:g} in {kept.played}: the game was played with another emulator"
        )


def _open(which: FilmParameters) -> PlayableGame:
    if ENVIRONMENTS[which.env].family.simulator == "ale":
        sticky = which.repeat_action_probability
        return AtariGame(which.env, cap_frames=None, frames_per_step=1, repeat_action_probability=sticky)
    return GymnasiumGame(which.env, filmed=True)


LONGEST_SECONDS = 300.0


def of_training(config: RunConfig) -> RecordingParameters:
    """Return the episode of the replays of a run. All start in the same way, so that they can be compared."""
    return RecordingParameters(protocol=protocol_of(config.model_dump()), seed=config.seed, episode=0)


def record_replay(
    directory: Path,
    checkpoint: LoadedCheckpoint,
    config: RunConfig,
    which: RecordingParameters,
    should_stop: Callable[[], bool] = lambda: False,
) -> RecordedReplay:
    """Record an episode of a checkpoint's agent into the run's directory.

    Jobs and the trainer's recorder both call this, so the same episode gives the same files.
    """
    video = directory / layout.replay_file(checkpoint.state.step)
    beside = [video.with_suffix(suffix) for suffix in (".seen.mp4", ".npz", ".png")]
    protocol = PROTOCOLS[which.protocol or protocol_of(config.model_dump())]
    wanted = RecordedEpisode(protocol, which.seed, which.episode, LONGEST_SECONDS)
    track = record(checkpoint, config, wanted, Files(video, *beside), should_stop)
    file, seen, track_file, poster = (str(path.relative_to(directory)) for path in (video, *beside))
    return RecordedReplay(
        file,
        poster,
        seen if config.environment.shows_pixels else None,
        track_file,
        track.head.score,
        len(track),
        track.head.pictures / track.head.pictures_per_second,
        complete=track.head.ended != "unfinished",
    )

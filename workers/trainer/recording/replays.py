"""Replays: recordings in a run's directory, named after their checkpoint."""

from collections.abc import Callable
from pathlib import Path

from workers.contract import layout
from workers.contract.config import RunConfig
from workers.contract.config.evaluation import protocol_of
from workers.contract.jobs import RecordingParameters
from workers.contract.protocols import PROTOCOLS
from workers.trainer.recording.files import Files
from workers.trainer.recording.recording import RecordedEpisode, record
from workers.trainer.run.checkpoints import LoadedCheckpoint
from workers.trainer.run.recorder import RecordedReplay

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
    """Record an episode of a checkpoint's agent into the run's directory."""
    video = directory / layout.replay_file(checkpoint.state.step)
    beside = [video.with_suffix(suffix) for suffix in (".seen.mp4", ".npz", ".png")]
    wanted = RecordedEpisode(PROTOCOLS[which.protocol], which.seed, which.episode, LONGEST_SECONDS)
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

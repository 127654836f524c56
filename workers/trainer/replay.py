"""Plays one episode from a checkpoint and records it; run by the trainer as a process beside it, in little haste."""

import argparse
import ctypes
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from workers.contract import layout
from workers.contract.config import config_adapter
from workers.contract.protocols import PROTOCOLS, fitting
from workers.trainer.recording.files import Files
from workers.trainer.recording.recording import Asked
from workers.trainer.recording.recording import record as record_episode
from workers.trainer.run import checkpoints
from workers.trainer.run.recorder import Replay

LONGEST_SECONDS = 300.0
PR_SET_PDEATHSIG = 1


def record(directory: Path, checkpoint_file: str) -> Replay:
    """Record an episode of the checkpoint's agent by the usual protocol of its environment."""
    checkpoint = checkpoints.read(directory / checkpoint_file)
    config = config_adapter.validate_python(checkpoint.config)
    video = directory / layout.replay_file(checkpoint.state.step)
    files = Files(
        video, seen=video.with_suffix(".seen.mp4"), track=video.with_suffix(".npz"), poster=video.with_suffix(".png")
    )
    protocol = PROTOCOLS[fitting(config.environment.kind == "atari")[0]]
    asked = Asked(protocol, config.seed + checkpoint.state.step, episode=0, longest_seconds=LONGEST_SECONDS)
    track = record_episode(checkpoint, config, asked, files)

    def name(path: Path) -> str:
        return str(path.relative_to(directory))

    return Replay(
        name(files.video),
        name(files.poster),
        name(files.seen) if config.environment.shows_pixels else None,
        name(files.track),
        track.head.score,
        len(track),
        track.head.pictures / track.head.pictures_per_second,
        complete=track.head.ended != "unfinished",
    )


def follow_parent(parent: int) -> None:
    """Have the kernel end this process with the trainer, even if that is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the trainer is gone")


def main() -> None:
    """Record one replay and describe it in a line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m workers.trainer.replay", description=__doc__)
    parser.add_argument("directory", type=Path, metavar="RUN_DIR")
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="relative to RUN_DIR")
    parser.add_argument("--parent", type=int, help="process id of the trainer to end with")
    arguments = parser.parse_args()
    if arguments.parent:
        # Ctrl-C reaches the whole terminal; the trainer decides what becomes of its recorder.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        follow_parent(arguments.parent)
    print(json.dumps(asdict(record(arguments.directory, arguments.checkpoint))))


if __name__ == "__main__":
    main()

"""Program that records one episode of a checkpoint. The trainer runs it in a process with low priority."""

import argparse
import ctypes
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from arcadia_workers.contract.config import config_adapter
from arcadia_workers.contract.layout import path_inside
from arcadia_workers.contract.plugins.loading import load_named_in_environment
from arcadia_workers.trainer.recording.replays import of_training, record_replay
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.recorder import RecordedReplay

PR_SET_PDEATHSIG = 1


def record(directory: Path, checkpoint_file: str) -> RecordedReplay:
    """Record the replay of a checkpoint."""
    checkpoint = checkpoints.read(path_inside(directory, checkpoint_file))
    config = config_adapter.validate_python(checkpoint.config)
    return record_replay(directory, checkpoint, config, of_training(config))


def follow_parent(parent: int) -> None:
    """Make the kernel end this process with the trainer, even if it is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the trainer is gone")


def main() -> None:
    """Record one replay and describe it in a line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m arcadia_workers.trainer.replay", description=__doc__)
    parser.add_argument("directory", type=Path, metavar="RUN_DIR")
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="relative to RUN_DIR")
    parser.add_argument("--parent", type=int, help="process id of the trainer to end with")
    arguments = parser.parse_args()
    load_named_in_environment()
    if arguments.parent:
        # Ctrl-C reaches the whole terminal, but the trainer decides when its recorder ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        follow_parent(arguments.parent)
    print(json.dumps(asdict(record(arguments.directory, arguments.checkpoint))))


if __name__ == "__main__":
    main()

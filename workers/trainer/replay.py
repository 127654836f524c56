"""Plays one episode from a checkpoint and records it; run by the trainer as a process beside it, in little haste."""

import argparse
import ctypes
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch

from workers.contract import layout
from workers.contract.config import config_adapter
from workers.trainer.methods import METHODS
from workers.trainer.replays import playback
from workers.trainer.replays.playback import Seen, Stage
from workers.trainer.replays.players import Player
from workers.trainer.replays.video import VideoWriter, write_png
from workers.trainer.run import checkpoints
from workers.trainer.run.recorder import Replay

LONGEST_SECONDS = 300
PR_SET_PDEATHSIG = 1


def record(directory: Path, checkpoint_file: str) -> Replay:
    """Play an episode with the checkpoint's policy, sampled as in training, and write its video and poster."""
    checkpoint = checkpoints.read(directory / checkpoint_file)
    config = config_adapter.validate_python(checkpoint.config)
    step = checkpoint.state.step
    seed = config.seed + step
    stage = playback.open_stage(config, seed)
    method = METHODS[config.algorithm]
    player = method.player(config, stage.observation_shape, stage.actions, checkpoint.state, seed)
    file = layout.replay_file(step)
    path = directory / file
    episode_return, length, over = 0.0, -1, False  # the opening is no decision
    with VideoWriter(path, stage.pictures_per_second, stage.scale) as video:
        for seen in episode(stage, player):
            for picture in seen.pictures:
                video.add(picture)
            episode_return += seen.reward
            length += 1
            over = seen.over
            if video.seconds >= LONGEST_SECONDS:
                break
        poster = path.with_suffix(".png")
        write_png(poster, picture, stage.scale)  # the last: not every step has one
    stage.close()
    return Replay(file, str(poster.relative_to(directory)), episode_return, length, video.seconds, complete=over)


def episode(stage: Stage, player: Player) -> Iterator[Seen]:
    """Play until the episode is over."""
    seen = stage.reset()
    yield seen
    while not seen.over:
        seen = stage.step(player.act(seen.observation))
        yield seen


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
    torch.set_num_threads(1)
    print(json.dumps(asdict(record(arguments.directory, arguments.checkpoint))))


if __name__ == "__main__":
    main()

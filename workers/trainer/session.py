"""One attempt at a run, from its first event to its last."""

import socket
import sys
import traceback
from random import seed as seed_random

import numpy as np
import torch

from workers.trainer import checkpoints, devices, durable_files, events, layout, memory, versions
from workers.trainer.algorithms import ALGORITHMS
from workers.trainer.checkpoints import CheckpointError
from workers.trainer.config import AsynchronousFields, GorilaConfig
from workers.trainer.devices import DeviceError
from workers.trainer.directory_run import DirectoryRun
from workers.trainer.gorila.ray_cluster import ClusterError
from workers.trainer.journal import Journal
from workers.trainer.launching import Launch
from workers.trainer.memory import MemoryShortageError
from workers.trainer.precision import body_dtype
from workers.trainer.processes import ActorFailed
from workers.trainer.progress_bar import ProgressBar
from workers.trainer.recorder import Recorder
from workers.trainer.stopping import StopRequest


def train(launch: Launch, journal: Journal, stop: StopRequest) -> int:
    """Train until the run is finished, stopped or failed; return the exit status."""
    try:
        run = begin(launch, journal, stop)
    except Exception as error:
        step = layout.newest_step(launch.directory)
        frames = step * launch.config.environment.frames_per_step
        journal.emit(events.Failed, step=step, frames=frames, message=reason(error), traceback=traceback.format_exc())
        return tell_failure(error)
    try:
        ALGORITHMS[launch.config.algorithm](launch.config, run)
        run.complete(stop.reason or "the algorithm ended early")
    except Exception as error:
        run.fail(reason(error), traceback.format_exc())
        return tell_failure(error)
    finally:
        run.close()
    print(run.summary(), flush=True)
    return 0


def reason(error: Exception) -> str:
    """Say why the run failed: our own errors are sentences, others need their type."""
    own = CheckpointError | ClusterError | DeviceError | MemoryShortageError | ActorFailed
    return str(error) if isinstance(error, own) else f"{type(error).__name__}: {error}"


def tell_failure(error: Exception) -> int:
    """Show the error on standard error, with its origin where the sentence does not say it all."""
    if isinstance(error, CheckpointError | ClusterError | DeviceError | MemoryShortageError):
        print(error, file=sys.stderr)
    else:
        traceback.print_exception(error)
    return 1


def begin(launch: Launch, journal: Journal, stop: StopRequest) -> DirectoryRun:
    """Find what to go on from, fix all seeds, and announce the attempt."""
    config, directory = launch.config, launch.directory
    # Actor-learners are processes of the CPU, even on a host with a GPU, and so are Gorila's roles.
    of_cpu = isinstance(config, AsynchronousFields | GorilaConfig)
    device = devices.resolve("cpu" if of_cpu else config.device)
    devices.set_threads(config, device)
    memory.check(config, device)
    seed_random(config.seed)
    np.random.seed(config.seed)
    torch.manual_seed(config.seed)
    checkpoints.tidy(directory)
    durable_files.remove_temporary(directory / layout.REPLAYS)
    warnings: list[str] = []
    newest = checkpoints.newest(directory, warnings.append) if launch.resume else None
    run = DirectoryRun(
        directory,
        config,
        journal,
        device,
        versions.captured(),
        newest.state if newest else None,
        stop.requested,
        Recorder(directory),
        ProgressBar(sys.stdout) if launch.progress_bar else None,
    )
    journal.emit(
        events.Started,
        step=run.step,
        frames=run.frames,
        resumed_from=newest.state.step if newest else None,
        seed=config.seed,
        device=devices.describe(device),
        precision=str(body_dtype(config, device)).removeprefix("torch."),
        command=["python", "-m", "workers.trainer", *sys.argv[1:]],
        versions=versions.captured(),
        host=socket.gethostname(),
    )
    for warning in warnings:
        run.log(warning, "warning")
    if newest:
        run.log(f"Going on from the checkpoint of step {newest.state.step:,}")
    elif launch.resume:
        run.log("No checkpoint yet: beginning at step 0")
    return run

"""One attempt of a run, from its first event to its last."""

import contextlib
import os
import socket
import sys
from random import seed as seed_random

import numpy as np
import torch

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.config.shared import CeilingFields
from arcadia_workers.trainer.environments import environments, episodes
from arcadia_workers.trainer.errors import StopRequest, TrainerError, reason, show, stack
from arcadia_workers.trainer.host import devices, memory
from arcadia_workers.trainer.launching import Launch
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.run import checkpoints, durable_files
from arcadia_workers.trainer.run.directory_run import DirectoryRun
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.progress import ProgressBar
from arcadia_workers.trainer.run.provenance import LAST_SECONDS, ProvenanceReport, captured, trainer_command
from arcadia_workers.trainer.run.recorder import Recorder
from arcadia_workers.trainer.run.run import TrainingRun


def train(launch: Launch, journal: Journal, stop: StopRequest) -> int:
    """Train until the run is finished, stopped or failed. Return the exit status: EX_TEMPFAIL if it can continue."""
    provenance = ProvenanceReport(launch.directory, journal)
    try:
        run = begin(launch, journal, stop, provenance)
    except Exception as error:
        step = layout.newest_step(launch.directory)
        frames = step * launch.config.environment.frames_per_step
        provenance.report(step, frames, LAST_SECONDS)
        journal.emit(events.Failed, step=step, frames=frames, message=reason(error), traceback=stack(error))
        show(error)
        return 1
    try:
        measure_ceiling(launch.config, run)
        TRAINERS[launch.config.algorithm].train(launch.config, run)
        run.complete(stop.reason or "the algorithm ended early")
    except Exception as error:
        show(error)
        if isinstance(error, TrainerError) and error.ends_as_killed:
            return os.EX_TEMPFAIL
        run.fail(reason(error), stack(error))
        return 1
    finally:
        run.close()
    with contextlib.suppress(OSError):  # the output is closed
        print(run.summary(), flush=True)
    return 0


def measure_ceiling(config: TrainingConfig, run: TrainingRun) -> None:
    """Report the speed of the environments without a network if the configuration requests it."""
    if not isinstance(config, CeilingFields) or not config.ceiling_seconds:
        return
    run.start_step("Measuring the environments alone")
    rate = episodes.measure(config, config.ceiling_seconds, run.should_stop)
    if rate is not None:
        run.metrics({"throughput/ceiling_steps_per_second": rate})


def fix_seeds(seed: int) -> None:
    """Seed all random generators of this process."""
    seed_random(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def begin(launch: Launch, journal: Journal, stop: StopRequest, provenance: ProvenanceReport) -> DirectoryRun:
    """Find the checkpoint to continue from, fix all seeds, and report the start."""
    config, directory = launch.config, launch.directory
    device = devices.resolve(config.wanted_device)
    devices.set_threads(config, device)
    environments.check(config.env)
    memory.check(TRAINERS[config.algorithm].needs(config, device))
    fix_seeds(config.seed)
    durable_files.remove_temporary(directory / layout.REPLAYS)
    checkpoints.tidy(directory)
    warnings: list[str] = []
    newest = checkpoints.newest(directory, warnings.append) if launch.resume else None
    versions = captured(config.model_dump())
    run = DirectoryRun(
        directory,
        config,
        journal,
        device,
        versions,
        newest.state if newest else None,
        stop.requested,
        Recorder(directory),
        provenance,
        ProgressBar(sys.stdout) if launch.progress_bar else None,
        launch.changes_applied,
    )
    journal.emit(
        events.Started,
        step=run.step,
        frames=run.frames,
        resumed_from=newest.state.step if newest else None,
        seed=config.seed,
        device=devices.describe(device),
        precision=str(body_dtype(config, device)).removeprefix("torch."),
        command=trainer_command(),
        versions=versions,
        host=socket.gethostname(),
    )
    for warning in warnings:
        run.log(warning, "warning")
    if newest:
        run.log(f"Continuing from the checkpoint of step {newest.state.step:,}")
        if newest.state.has_only_weights:
            run.log("This checkpoint has only the weights of the network, so the optimizer starts anew")
    elif launch.resume:
        run.log("No checkpoint yet: starting at step 0")
    run.apply_changes(config)  # before the first update, because one may extend a run that has all its steps
    return run

"""`python -m arcadia_workers.trainer`: train one run in a directory, without any service."""

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.plugins.loading import load_named_in_environment
from arcadia_workers.trainer import launching
from arcadia_workers.trainer.errors import StopRequest
from arcadia_workers.trainer.launching import Launch, LaunchError
from arcadia_workers.trainer.run.journal import DirectoryBusyError, Journal

LOADING = "Loading PyTorch"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    stop = StopRequest()
    load_named_in_environment()
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == ["--wait-for-arguments"]:
        given = sys.argv[1:] = awaited_arguments(Path(given[1]), stop)
    options = launching.parser().parse_args(given)
    if options.gpu is not None:
        # CUDA reads these at its first use.
        os.environ |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": str(options.gpu)}
    if options.list_presets:
        print(launching.presets())
        return 0
    try:
        launch = launching.read(options)
        journal = launching.take_directory(launch)
    except LaunchError as error:
        print("\n".join(error.problems), file=sys.stderr)
        return 2
    except DirectoryBusyError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        with journal:
            status = attempt(launch, journal, stop)
    except OSError as error:
        print(f"{journal.path} could not be written ({error.strerror}): its last events are lost", file=sys.stderr)
        return 1
    if status == os.EX_TEMPFAIL:
        end_at_once(status)
    return status


def end_at_once(status: int) -> None:
    """End this process without its exit handlers, which may wait for processes that were killed."""
    with contextlib.suppress(OSError):  # the output is closed
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def awaited_arguments(pipe: Path, stop: StopRequest) -> list[str]:
    """Load torch and the methods, then wait for the arguments in a named pipe."""
    # A stop ends the loading and applies to the run that the arguments name.
    with contextlib.suppress(KeyboardInterrupt):
        stop.listen()
        quiet_threads()
        importlib.import_module("arcadia_workers.trainer.session")
    stop.interrupts = False
    with pipe.open() as line:
        return [str(argument) for argument in json.loads(line.readline())]


def attempt(launch: Launch, journal: Journal, stop: StopRequest) -> int:
    """Load torch and the methods, which takes seconds, and train."""
    step = layout.newest_step(launch.directory)
    frames = step * launch.config.environment.frames_per_step
    # Done before signals are handled, so that an interrupt cannot tear the event file.
    journal.emit(events.StartStep, step=step, frames=frames, name=LOADING)
    if launch.progress_bar:
        with contextlib.suppress(OSError):  # the output is closed
            print(LOADING, flush=True)
    try:
        stop.listen()
        stop.interrupt_if_requested()
        quiet_threads()
        from arcadia_workers.trainer import session

        stop.interrupts = False
    except KeyboardInterrupt:
        journal.emit(events.Stopped, step=step, frames=frames, reason=f"{stop.reason} before training began")
        return 0
    journal.wait_for_space(stop.requested)
    return session.train(launch, journal, stop)


def quiet_threads() -> None:
    """Configure OpenMP before torch loads it: spinning threads would compete with the emulators' threads."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OMP_NUM_THREADS", str(cores))


if __name__ == "__main__":
    status = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # the output is closed
            stream.flush()
    # Everything is on the disk. Unloading torch takes seconds on a busy machine, and a stop must take less than two.
    os._exit(status)

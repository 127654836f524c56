"""Arms of a practice: ordinary run directories that continue from the same checkpoint."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.practice import ArmName
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.practice.planning import PracticePlan
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.run import durable_files

ARMS: tuple[ArmName, ArmName] = ("practice", "control")
LOG = "trainer.log"
NICENESS = 10
POLL_SECONDS = 0.2
# The speed of an arm is read once it has trained this long.
MEASURED_SECONDS = 3.0


class ArmFailedError(TrainerError):
    """The training of an arm has failed."""


def arm_directory(out: Path, name: ArmName, pair: int) -> Path:
    """Return the run directory of an arm."""
    return out / f"pair-{pair}" / name


def arm_config(config: RunConfig, plan: PracticePlan, name: ArmName, pair: int, step: int) -> RunConfig:
    """Return the configuration of an arm, which continues from a step. The arms of a pair differ only in the share."""
    share = plan.options.share if name == "practice" else 0.0
    changes = {
        "practice": plan.practice.model_copy(update={"share": share}),
        "total_steps": step + plan.steps,
        "seed": (config.seed + pair - 1) % 2**31,
    }
    return config.model_copy(update=changes)


def train(
    directory: Path, config: RunConfig, checkpoint: Path, stop: Callable[[], bool], show_speed: Callable[[float], None]
) -> None:
    """Train an arm in a process with low priority, from the checkpoint or where it was stopped."""
    prepare(directory, config, checkpoint)
    if layout.newest_step(directory) >= config.total_steps:
        return
    command = [sys.executable, "-m", "arcadia_workers.trainer", "--dir", str(directory), "--resume"]
    with (directory / LOG).open("ab") as log:
        trainer = subprocess.Popen(
            [*command, "--no-progress-bar"], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        os.setpriority(os.PRIO_PROCESS, trainer.pid, NICENESS)
        is_measured = False
        try:
            while trainer.poll() is None and not stop():
                time.sleep(POLL_SECONDS)
                if not is_measured and (speed := speed_of(directory)):
                    is_measured = True
                    show_speed(speed)
        finally:
            if trainer.poll() is None:
                trainer.terminate()  # it saves a checkpoint
            trainer.wait()
    if stop():
        raise StoppedError("practice was stopped")
    if layout.newest_step(directory) < config.total_steps:
        failed = [event.message for event in events_of(directory) if isinstance(event, events.Failed)]
        raise ArmFailedError(f"{directory} did not finish: {failed[-1] if failed else f'see {directory / LOG}'}")


def prepare(directory: Path, config: RunConfig, checkpoint: Path) -> None:
    """Make the run directory of an arm, with the checkpoint from which it continues."""
    if (directory / layout.CONFIG).exists():
        return
    try:
        folder = directory / layout.CHECKPOINTS
        folder.mkdir(parents=True, exist_ok=True)
        for file in (checkpoint, checkpoint.with_suffix(".json")):
            shutil.copyfile(file, folder / file.name)
        durable_files.write(directory / layout.CONFIG, config.model_dump_json(indent=2).encode())
    except OSError as error:
        raise TrainerError(f"{directory} cannot be used as a run directory: {error.strerror}") from error


def events_of(directory: Path) -> Iterator[events.Event]:
    """Yield the events of an arm. The last line may be incomplete."""
    path = directory / layout.EVENTS
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    for line in lines:
        if line.endswith(b"\n"):
            yield events.event_adapter.validate_json(line)


def speed_of(directory: Path) -> float | None:
    """Return the steps per second of an arm once it has trained for some seconds."""
    began = None
    for event in events_of(directory):
        if isinstance(event, events.Started):
            began = event.time
        if began and isinstance(event, events.Progress) and event.time - began >= MEASURED_SECONDS:
            return event.steps_per_second or None
    return None


def training_seconds(directory: Path) -> float:
    """Return how long the attempts of an arm have trained."""
    seconds, began = 0.0, None
    for event in events_of(directory):
        if isinstance(event, events.Started):
            began = event.time
        elif began is not None and isinstance(event, events.Stopped | events.Finished | events.Failed):
            seconds, began = seconds + event.time - began, None
    return seconds

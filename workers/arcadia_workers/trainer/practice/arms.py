"""Arms of a practice: ordinary run directories that continue from the same checkpoint."""

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from arcadia_workers.contract import events, layout, leash
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.practice import ArmName
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.run import durable_files

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


def train(
    directory: Path, config: RunConfig, checkpoint: Path, stop: Callable[[], bool], show_speed: Callable[[float], None]
) -> None:
    """Train an arm in a process with low priority, from the checkpoint or where it was stopped."""
    prepare(directory, config, checkpoint)
    if layout.newest_step(directory) >= config.total_steps:
        return
    with (
        (directory / LOG).open("ab") as log,
        subprocess.Popen(
            trainer_command(directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        ) as trainer,
    ):
        is_measured = False
        try:
            while trainer.poll() is None and not stop():
                time.sleep(POLL_SECONDS)
                if not is_measured and (speed := speed_of(directory)):
                    is_measured = True
                    show_speed(speed)
        finally:
            terminate(trainer)
    if stop():
        raise StoppedError("practice was stopped")
    if layout.newest_step(directory) < config.total_steps:
        failed = [event.message for event in events_of(directory) if isinstance(event, events.Failed)]
        raise ArmFailedError(f"{directory} did not finish: {failed[-1] if failed else f'see {directory / LOG}'}")


def trainer_command(directory: Path) -> list[str]:
    """Return the command that trains an arm on a leash, so that it ends if this process is killed."""
    on_leash = ["nice", "-n", str(NICENESS), sys.executable, "-I", "-S", leash.__file__]
    trainer = [sys.executable, "-m", "arcadia_workers.trainer", "--dir", str(directory), "--resume"]
    return [*on_leash, *trainer, "--no-progress-bar"]


def terminate(trainer: subprocess.Popen[bytes]) -> None:
    """Make the trainer save a checkpoint, and wait for its end. Closing the pipe earlier would kill it."""
    if trainer.stdin and trainer.poll() is None:
        with contextlib.suppress(BrokenPipeError):  # it has just ended
            trainer.stdin.write(leash.TERMINATE)
            trainer.stdin.flush()
    trainer.wait()


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
    """Return how long the attempts of an arm have trained. A killed one has trained up to its last event."""
    seconds, began, last = 0.0, None, 0.0
    for event in events_of(directory):
        if isinstance(event, events.Started):
            seconds += last - began if began is not None else 0.0
            began = event.time
        last = event.time
    return seconds + (last - began if began is not None else 0.0)

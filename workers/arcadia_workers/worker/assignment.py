"""Assignments: the runs and jobs that a worker holds, and how their attempts ended."""

import errno
import os
import re
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from arcadia_workers.contract.events import RequestedChange
from arcadia_workers.contract.worker_api import Noun, Outcome

# The requested state of a run or a job.
DesiredState = Literal["run", "pause", "stop", "cancel"]

# The suffix is the installation, if the name without it is used by another installation.
ATTEMPT = re.compile(r"^attempt-(\d+)(\.[0-9a-z]+)?$")
# The file with the installation of an assignment.
INSTALLATION = "installation"
_TITLES: dict[Noun, str] = {"runs": "Run", "jobs": "Job"}


@dataclass(frozen=True)
class Assignment:
    """One attempt at a run or a job."""

    noun: Noun
    number: int
    attempt: int
    installation: str | None = None
    # Of this attempt only, if the server has accounts.
    token: str | None = field(default=None, compare=False, repr=False)

    @property
    def path(self) -> str:
        """Return the path in the worker API."""
        return f"{self.noun}/{self.number}"

    def directory(self, root: Path) -> Path:
        """Return the directory of its files. It differs from the directory of another installation's attempt."""
        directory = root / self.noun / str(self.number) / f"attempt-{self.attempt}"
        if installation_of(directory) in (None, self.installation):
            return directory
        return directory.with_name(f"{directory.name}.{self.installation or 'unnamed'}")

    def __str__(self) -> str:
        return f"{_TITLES[self.noun]} {self.number}"


class Lease:
    """A held assignment with the last response of the backend."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.desired: DesiredState = "run"
        # Changes of a run's configuration that the backend has no report of.
        self.changes: list[RequestedChange] = []
        self.is_stale = False
        # People drain this worker, so that another one continues the assignment.
        self.is_drained = False
        self.is_released = False  # a heartbeat that overtakes the release is rejected, which is expected


def installation_of(directory: Path) -> str | None:
    """Return the installation of an attempt, or None if it was not stored yet."""
    try:
        return (directory / INSTALLATION).read_text() or None
    except FileNotFoundError:
        return None


def leftovers(root: Path, noun: Noun) -> list[tuple[Assignment, Path]]:
    """Return the attempts that this worker did not finish before it ended, with their directories."""
    unfinished = []
    for directory in sorted((root / noun).glob("*/attempt-*")):
        match = ATTEMPT.match(directory.name)
        if match and directory.parent.name.isdigit():
            assignment = Assignment(noun, int(directory.parent.name), int(match[1]), installation_of(directory))
            unfinished.append((assignment, directory))
    return unfinished


StopReason = Literal["stopped", "drained"]


@dataclass(frozen=True)
class Ending:
    """The outcome of an attempt, with a message for the run's page."""

    outcome: Outcome
    message: str | None = None
    traceback: str | None = None


def is_disk_full(text: str | None) -> bool:
    """Return True if an error text says that the disk is full."""
    return any(os.strerror(number) in (text or "") for number in (errno.ENOSPC, errno.EDQUOT))


def ending_of_full_disk(worker: str) -> Ending:
    """Return the ending for a full disk. The assignment goes back to the queue."""
    return Ending("drained", f"The disk of worker {worker} is full. The work is retried when there is space.")


def ending_of_stop_on_full_disk(reason: StopReason, worker: str) -> Ending:
    """Return the ending of a run that was stopped while the disk was full."""
    return Ending(
        reason, f"The disk of worker {worker} is full. Steps after the run's last stored checkpoint are lost."
    )


def ending_of_trainer(
    returncode: int,
    last_event: dict[str, Any] | None,
    stderr: str,
    stop_reason: StopReason | None,
    timed_out: bool,
    process: str = "trainer",
) -> Ending:
    """Return the ending by the trainer's last event, or else by its exit status."""
    kind = last_event["kind"] if last_event else None
    if kind == "finished":
        return Ending("finished")
    if kind == "stopped":
        return Ending(stop_reason or "drained")
    if kind == "failed" and last_event:
        return Ending("failed", str(last_event.get("message")), last_event.get("traceback") or None)
    said = stderr.splitlines()[-1].strip() if stderr else "no error message"
    if returncode == os.EX_TEMPFAIL:
        # Something that the trainer depends on was killed. It has saved, and the next attempt continues.
        return Ending(stop_reason or "lost", said)
    if returncode < 0:
        return _ending_by_signal(_name_of_signal(-returncode), stderr, stop_reason, timed_out, process)
    return Ending("failed", f"The {process} exited with status {returncode}: {said}", stderr or None)


def _name_of_signal(number: int) -> str:
    """Return a signal's name. Real-time signals only have numbers."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def _ending_by_signal(name: str, stderr: str, stop_reason: StopReason | None, timed_out: bool, process: str) -> Ending:
    if stop_reason and timed_out:
        return Ending(
            stop_reason, "The trainer did not stop in time and was killed. Steps after its last checkpoint are lost."
        )
    if stop_reason:
        return Ending(stop_reason, "The trainer ended before it could save a checkpoint.")
    return Ending("lost", f"The {process} was killed by {name}.", stderr or None)


def ending_of_leftover(last_event: dict[str, Any] | None, doing: str = "trained this run") -> Ending:
    """Return the ending of an attempt whose worker was killed, by its last event."""
    kind = last_event["kind"] if last_event else None
    if kind in ("finished", "stopped", "failed"):
        return ending_of_trainer(0, last_event, "", stop_reason=None, timed_out=False)
    return Ending("lost", f"The worker was killed while it {doing}.")

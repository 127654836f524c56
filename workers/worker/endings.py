"""How an attempt ended, judged by what its trainer left behind."""

import errno
import os
import signal
from dataclasses import dataclass
from typing import Any, Literal

from workers.contract.worker_api import Outcome

Asked = Literal["stopped", "drained"]


@dataclass(frozen=True)
class Ending:
    """How an attempt ended, in words for the run's page."""

    outcome: Outcome
    message: str | None = None
    traceback: str | None = None


def is_disk_full(text: str | None) -> bool:
    """Return whether an error's text says that the disk is full."""
    return any(os.strerror(number) in (text or "") for number in (errno.ENOSPC, errno.EDQUOT))


def ending_of_full_disk(worker: str) -> Ending:
    """Return the ending for a full disk. The assignment goes back to the queue."""
    return Ending("drained", f"The disk of worker {worker} is full. It is tried again once there is space.")


def ending_of_trainer(
    returncode: int,
    last_event: dict[str, Any] | None,
    last_words: str,
    asked: Asked | None,
    outstayed: bool,
    process: str = "trainer",
) -> Ending:
    """Judge by the trainer's last event, else by its exit status and by what it was asked to do."""
    kind = last_event["kind"] if last_event else None
    if kind == "finished":
        return Ending("finished")
    if kind == "stopped":
        return Ending(asked or "drained")
    if kind == "failed" and last_event:
        return Ending("failed", str(last_event.get("message")), last_event.get("traceback") or None)
    if returncode < 0:
        return _ending_by_signal(_name_of_signal(-returncode), last_words, asked, outstayed, process)
    said = last_words.splitlines()[-1].strip() if last_words else "it said nothing"
    return Ending("failed", f"The {process} exited with status {returncode}: {said}", last_words or None)


def _name_of_signal(number: int) -> str:
    """Name a signal; those for real time have only numbers."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def _ending_by_signal(name: str, last_words: str, asked: Asked | None, outstayed: bool, process: str) -> Ending:
    if asked and outstayed:
        return Ending(
            asked, "The trainer did not stop in time and was killed; what came after its last checkpoint is lost."
        )
    if asked:
        return Ending(asked, "The trainer ended before it could save a checkpoint.")
    return Ending("lost", f"The {process} was killed by {name}.", last_words or None)


def ending_of_leftover(last_event: dict[str, Any] | None, doing: str = "trained this run") -> Ending:
    """Judge an attempt after its worker was killed, by the last event that its trainer wrote."""
    kind = last_event["kind"] if last_event else None
    if kind in ("finished", "stopped", "failed"):
        return ending_of_trainer(0, last_event, "", asked=None, outstayed=False)
    return Ending("lost", f"The worker was killed while it {doing}.")

"""Background thread that sends heartbeats and receives stop requests."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arcadia_workers.contract.worker_api import JobDesired, MachineFacts
from arcadia_workers.worker.answers import BackendError, StaleAttemptError, WrongTokenError
from arcadia_workers.worker.assignment import Lease
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.machine import low_disk_bytes, read_gpus

IDLE_SECONDS = 5.0
# While the backend hears from this worker by the doorbell, heartbeats only repeat its facts.
BELL_SECONDS = 120.0
DISK_SECONDS = 5.0
HELD_SECONDS = 0.5  # a stop request must reach the trainer within two seconds

log = logging.getLogger(__name__)


class HeartbeatThread(threading.Thread):
    """Thread that sends heartbeats until it is closed."""

    def __init__(
        self,
        client: BackendClient,
        facts: MachineFacts,
        job_slots: int = 0,
        alive_file: Path | None = None,
        directory: Path | None = None,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._alive_file, self._directory = alive_file, directory
        self._disk_at = float("-inf")
        self._client, self._facts, self._job_slots = client, facts, job_slots
        self._held: tuple[Lease, ...] = ()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._answered = True
        self._sent: tuple[float, MachineFacts] | None = None
        # Returns True while this worker waits for the doorbell at the backend.
        self.is_at_bell: Callable[[], bool] = lambda: False

    def hold(self, held: Lease) -> None:
        """Include an assignment in heartbeats."""
        with self._lock:
            self._held = (*self._held, held)
        self._wake.set()

    def drop(self, held: Lease) -> None:
        """Remove an assignment from heartbeats."""
        with self._lock:
            self._held = tuple(each for each in self._held if each is not held)
        self._wake.set()

    def close(self) -> None:
        """Stop the thread."""
        self._closed = True
        self._wake.set()
        self.join(timeout=6)

    def run(self) -> None:
        """Send heartbeats."""
        while not self._closed and self._client.wrong_token is None:
            self._wake.clear()
            held = self._held
            self._look_at_machine()
            if held or not self._is_known():
                self._beat(held)
            else:
                self._show_alive()
            self._wake.wait(HELD_SECONDS if held else IDLE_SECONDS)

    def _is_known(self) -> bool:
        """Return True if the backend knows the facts, and hears from this worker without heartbeats."""
        return (
            self.is_at_bell()
            and self._sent is not None
            and self._sent[1] == self._facts
            and time.monotonic() - self._sent[0] < BELL_SECONDS
        )

    def _look_at_machine(self) -> None:
        if self._directory is not None and time.monotonic() - self._disk_at >= DISK_SECONDS:
            self._disk_at = time.monotonic()
            changes: dict[str, Any] = {"low_disk_bytes": low_disk_bytes(self._directory)}
            if self._facts.gpus:
                changes["gpus"] = read_gpus() or self._facts.gpus
            self._facts = self._facts.model_copy(update=changes)

    def _beat(self, held: tuple[Lease, ...]) -> None:
        """Send one heartbeat per installation of the held assignments, or an empty one."""
        groups: dict[str | None, list[Lease]] = {}
        for each in held:
            groups.setdefault(each.assignment.installation, []).append(each)
        answers = [self._is_answered(group) for group in groups.values() or ([],)]
        answered = all(answers)
        # After an assignment has ended, one more heartbeat tells so.
        self._sent = (time.monotonic(), self._facts) if answered and not held else None
        if answered and not self._answered:
            log.info("The backend responds again.")
        self._answered = answered
        if answered:
            self._show_alive()

    def _show_alive(self) -> None:
        """Touch the file for health checks."""
        if self._alive_file is None:
            return
        try:
            self._alive_file.touch()
        except OSError as error:
            log.warning("Cannot touch %s (ARCADIA_WORKER_ALIVE_FILE): %s", self._alive_file, error.strerror)
            self._alive_file = None

    def _is_answered(self, held: list[Lease]) -> bool:
        run = next((each for each in held if each.assignment.noun == "runs"), None)
        try:
            reply = self._client.heartbeat(self._facts, self._job_slots, [each.assignment for each in held])
        except StaleAttemptError as error:
            if run:
                _mark_stale(run, str(error))
        except Exception as error:
            # Continue after any error: without heartbeats the backend would requeue the held assignments.
            self._log_failure(error)
            return False
        else:
            if run and reply.desired:
                run.desired, run.changes = reply.desired, reply.changes
            for each in held:
                each.is_drained = reply.drain
            wanted = {(job.id, job.attempt): job.desired for job in reply.jobs}
            for job in held:
                if job.assignment.noun == "jobs":
                    _apply_request(job, wanted.get((job.assignment.number, job.assignment.attempt)))
        return True

    def _log_failure(self, error: Exception) -> None:
        if self._answered and not isinstance(error, WrongTokenError):
            unexpected = None if isinstance(error, BackendError) else error
            log.warning("The backend does not respond, retrying: %s", error, exc_info=unexpected)


def _apply_request(job: Lease, desired: JobDesired | None) -> None:
    if desired is None:
        _mark_stale(job, "another attempt holds it, or it was deleted")
    else:
        job.desired = desired


def _mark_stale(held: Lease, reason: str) -> None:
    if not held.is_stale:
        held.is_stale = True
        if not held.is_released:
            log.warning(
                "%s, attempt %d is no longer held by this worker: %s", held.assignment, held.assignment.attempt, reason
            )

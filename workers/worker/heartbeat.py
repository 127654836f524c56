"""A thread that tells the backend again and again that the worker lives, and learns what users want of its run."""

import logging
import threading

from workers.contract.worker_api import Desired, HeldJob, MachineFacts
from workers.worker.answers import BackendError, StaleAttemptError
from workers.worker.backend_client import BackendClient

IDLE_SECONDS = 2.0
HELD_SECONDS = 0.5  # a user's stop must reach the trainer within two seconds

log = logging.getLogger(__name__)


class Held:
    """The run that this worker trains, and what the backend last said of it."""

    def __init__(self, run: int, attempt: int) -> None:
        self.run, self.attempt = run, attempt
        self.desired: Desired = "run"
        self.stale = False
        self.given_back = False  # a heartbeat that crosses the release is refused; that is expected


class Heartbeat(threading.Thread):
    """Sends heartbeats until closed."""

    def __init__(self, client: BackendClient, facts: MachineFacts) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._client, self._facts = client, facts
        self._held: Held | None = None
        self._wake = threading.Event()
        self._closed = False
        self._answered = True

    def hold(self, held: Held | None) -> None:
        """Name this run in heartbeats from now on, or none."""
        self._held = held
        self._wake.set()

    def close(self) -> None:
        """Send no more."""
        self._closed = True
        self._wake.set()
        self.join(timeout=6)

    def run(self) -> None:
        """Send heartbeats."""
        while not self._closed:
            self._wake.clear()
            held = self._held
            self._beat(held)
            self._wake.wait(HELD_SECONDS if held else IDLE_SECONDS)

    def _beat(self, held: Held | None) -> None:
        try:
            reply = self._client.heartbeat(self._facts, HeldJob(id=held.run, attempt=held.attempt) if held else None)
        except StaleAttemptError as error:
            if held and not held.stale:
                held.stale = True
                if not held.given_back:
                    log.warning("Run %d, attempt %d is no longer this worker's: %s", held.run, held.attempt, error)
        except Exception as error:
            # Whatever went wrong: without heartbeats the backend would give the run to another worker.
            self._trouble(error)
        else:
            if not self._answered:
                log.info("The backend answers again.")
            self._answered = True
            if held and reply.desired:
                held.desired = reply.desired

    def _trouble(self, error: Exception) -> None:
        if self._answered:
            unforeseen = None if isinstance(error, BackendError) else error
            log.warning("The backend does not answer, trying on: %s", error, exc_info=unforeseen)
        self._answered = False

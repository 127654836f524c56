"""A thread that keeps telling the backend that the worker is alive, and hears what it wants of the run held."""

import logging
import threading
from typing import Any

from workers.backend_client import BackendClient, BackendError, Desired, StaleAttemptError

IDLE_SECONDS = 2.0
HELD_SECONDS = 0.5  # what the user asks of a run reaches its trainer within two seconds, with room to spare

log = logging.getLogger(__name__)


class Held:
    """A run in this worker's hands, and what the backend last said of it."""

    def __init__(self, run: int, attempt: int) -> None:
        self.run, self.attempt = run, attempt
        self.desired: Desired = "run"
        self.stale = False
        self.given_back = False  # a beat that crosses the release is refused, which is no surprise then


class Heartbeat(threading.Thread):
    """Beats until closed."""

    def __init__(self, client: BackendClient, facts: dict[str, Any]) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._client, self._facts = client, facts
        self._held: Held | None = None
        self._wake = threading.Event()
        self._closed = False
        self._answered = True

    def hold(self, held: Held | None) -> None:
        """Report this run from now on, or none."""
        self._held = held
        self._wake.set()

    def close(self) -> None:
        """Stop beating."""
        self._closed = True
        self._wake.set()
        self.join(timeout=6)

    def run(self) -> None:
        """Beat."""
        while not self._closed:
            self._wake.clear()
            held = self._held
            self._beat(held)
            self._wake.wait(HELD_SECONDS if held else IDLE_SECONDS)

    def _beat(self, held: Held | None) -> None:
        try:
            reply = self._client.heartbeat(self._facts, (held.run, held.attempt) if held else None)
        except StaleAttemptError as error:
            if held and not held.stale:
                held.stale = True
                if not held.given_back:
                    log.warning("Run %d, attempt %d is no longer this worker's: %s", held.run, held.attempt, error)
        except BackendError as error:
            if self._answered:
                log.warning("The backend does not answer, trying on: %s", error)
            self._answered = False
        else:
            if not self._answered:
                log.info("The backend answers again.")
            self._answered = True
            if held and reply.desired:
                held.desired = reply.desired

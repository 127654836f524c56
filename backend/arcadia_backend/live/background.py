"""Background threads, which rest until a change."""

import threading
from collections.abc import Callable

from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.live.notices import noticing

# Without a notice of a change, look this often: Redis may have lost it, or it may come from outside.
IDLE_SECONDS = 30.0


class BackgroundThread:
    """Base of threads that repeat their work, with the rights of the backend.

    `work` returns the seconds until something is due that no change announces. A change makes the thread work earlier,
    but never more often than once in `seconds`.
    """

    def __init__(self, name: str, seconds: float, work: Callable[[], float]) -> None:
        self._seconds, self._repeated = seconds, work
        self._changed, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        with acting_as(BACKEND), noticing(self._changed):
            while not self._stopping.wait(self._seconds):
                # Before the work, so that a change during it is not missed.
                self._changed.clear()
                rest = min(self._repeated(), IDLE_SECONDS) - self._seconds
                if rest > 0 and not self._stopping.is_set():
                    self._changed.wait(rest)

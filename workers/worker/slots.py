"""Slots that limit the number of working threads without making any of them wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Slots:
    """A fixed number of slots for threads.

    A thread that finds no free slot returns. A thread with a slot then checks for work again, so no doorbell is lost.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._changed = threading.Condition()
        self._used = 0
        self._closed = False
        self._rung = False

    def enter(self) -> bool:
        """Record a doorbell. Return True if the thread got a slot."""
        with self._changed:
            self._rung = True
            if self._closed or self._used == self.count:
                return False
            self._used += 1
            return True

    def should_check_again(self) -> bool:
        """Return True if the doorbell rang since the last check. Otherwise release the slot."""
        with self._changed:
            if self._rung and not self._closed:
                self._rung = False
                return True
            self._leave()
            return False

    def leave(self) -> None:
        """Release a slot."""
        with self._changed:
            self._leave()

    def _leave(self) -> None:
        self._used -= 1
        self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Wait until all slots are free, and keep them free during the block."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: self._used == 0)
        try:
            yield
        finally:
            with self._changed:
                self._closed = False

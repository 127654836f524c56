"""Let so many threads at most look for work, and have none of them wait for another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Places:
    """Lets as many threads in as there are places.

    A thread that finds them all taken goes away. One of those inside then looks again, so that no ring is lost.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._changed = threading.Condition()
        self._inside = 0
        self._closed = False
        self._rung = False

    def enter(self) -> bool:
        """Note that somebody rang, and say whether there was a place."""
        with self._changed:
            self._rung = True
            if self._closed or self._inside == self.count:
                return False
            self._inside += 1
            return True

    def stays(self) -> bool:
        """Say whether somebody rang since a thread inside last looked; a thread that is told no has left."""
        with self._changed:
            if self._rung and not self._closed:
                self._rung = False
                return True
            self._leave()
            return False

    def leave(self) -> None:
        """Give a place up."""
        with self._changed:
            self._leave()

    def _leave(self) -> None:
        self._inside -= 1
        self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Wait until everybody has left, and let nobody in meanwhile."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._closed = False

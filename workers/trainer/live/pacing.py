"""Pacing of pictures in real time."""

import time
from collections.abc import Callable

# If a game is further behind than this, it does not try to catch up.
LATE_SECONDS = 0.1


class Pace:
    """Timer that waits after each picture until the next one is due."""

    def __init__(
        self,
        pictures_per_second: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds, self._clock, self._sleep = 1 / pictures_per_second, clock, sleep
        self._due = clock()

    def wait(self) -> None:
        """Wait until the next picture is due."""
        now = self._clock()
        self._due = max(self._due + self._seconds, now - LATE_SECONDS)
        if self._due > now:
            self._sleep(self._due - now)

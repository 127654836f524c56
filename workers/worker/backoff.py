"""How long to wait before calling a backend again that did not answer."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from workers.worker.answers import ElsewhereError, FailingError, UnreachableError

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 3.0
# An error of the backend's own may be there for ever; so many tries take about half a minute.
MOST_FAILURES = 15

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Backoff:
    """Delays that double up to a limit, each with jitter, so that many workers do not call at once."""

    def __init__(self, first: float | None = None, longest: float | None = None) -> None:
        self._first = FIRST_SECONDS if first is None else first
        self._longest = LONGEST_SECONDS if longest is None else longest
        self._next = self._first

    def delay(self) -> float:
        """Return the next delay in seconds."""
        ceiling, self._next = self._next, min(2 * self._next, self._longest)
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, no secret

    def reset(self) -> None:
        """Begin again with short delays."""
        self._next = self._first


def persist(call: Callable[[], Answer], gives_up: Callable[[], bool]) -> Answer:
    """Repeat a call until the backend answers; raise the last error when that is hopeless, or the caller gives up."""
    backoff, told, failures = Backoff(), False, 0
    while True:
        try:
            return call()
        except UnreachableError as error:
            failures += isinstance(error, FailingError)
            if gives_up() or failures >= MOST_FAILURES or isinstance(error, ElsewhereError):
                raise
            if not told:
                log.warning("Trying again until the backend answers: %s", error)
            told = True
            time.sleep(backoff.delay())

"""Retries with exponential backoff."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from workers.worker.answers import ElsewhereError, FailingError, UnreachableError, WrongTokenError

FIRST_SECONDS = 0.2
MAX_SECONDS = 3.0
# Only a person can change these.
FINAL = (ElsewhereError, WrongTokenError)
# Give up after this many internal errors, about half a minute.
MAX_INTERNAL_ERRORS = 15

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Backoff:
    """Exponential delays up to a limit, with jitter to spread the calls of many workers."""

    def __init__(self, first: float | None = None, longest: float | None = None) -> None:
        self._first = FIRST_SECONDS if first is None else first
        self._longest = MAX_SECONDS if longest is None else longest
        self._next = self._first

    def delay(self) -> float:
        """Return the next delay in seconds."""
        ceiling, self._next = self._next, min(2 * self._next, self._longest)
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, no secret

    def reset(self) -> None:
        """Restart with the shortest delay."""
        self._next = self._first


def retry(call: Callable[[], Answer], is_canceled: Callable[[], bool]) -> Answer:
    """Retry a call until it succeeds. Raise the last error if it is permanent or the caller cancels."""
    backoff, is_logged, failures = Backoff(), False, 0
    while True:
        try:
            return call()
        except UnreachableError as error:
            failures += isinstance(error, FailingError)
            if is_canceled() or failures >= MAX_INTERNAL_ERRORS or isinstance(error, FINAL):
                raise
            if not is_logged:
                log.warning("Retrying until the backend responds: %s", error)
            is_logged = True
            time.sleep(backoff.delay())

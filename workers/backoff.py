"""How long to wait before calling again somebody who did not answer."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from workers.backend_client import UnreachableError

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 3.0

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Backoff:
    """Delays that double up to a limit, each with jitter so that many workers do not return as one."""

    def __init__(self) -> None:
        self._next = FIRST_SECONDS

    def delay(self) -> float:
        """Return the next delay in seconds."""
        ceiling, self._next = self._next, min(2 * self._next, LONGEST_SECONDS)
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, no secret

    def reset(self) -> None:
        """Begin again with short delays."""
        self._next = FIRST_SECONDS


def persist(call: Callable[[], Answer], gives_up: Callable[[], bool]) -> Answer:
    """Make a call until somebody answers it or the caller gives up, which raises UnreachableError."""
    backoff = Backoff()
    while True:
        try:
            return call()
        except UnreachableError as error:
            if gives_up():
                raise
            log.debug("Trying again: %s", error)
            time.sleep(backoff.delay())

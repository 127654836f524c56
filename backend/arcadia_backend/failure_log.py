"""Log of repeated failures: the first one with its traceback, then a count per minute."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

REPEAT_SECONDS = 60.0
# A failure that has not happened for this long is logged in full again.
FORGET_SECONDS = 600.0


@dataclass
class _Repeats:
    """Repetitions of one failure."""

    logged_at: float
    seen_at: float
    count: int = 0


class FailureLog:
    """Logger that writes a repeated failure once in full, and then at most once a minute.

    If the same error happens in several places, only the first gets a traceback.
    """

    def __init__(self, log: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = log, clock
        self._lock = threading.Lock()
        self._repeats: dict[tuple[str, str], _Repeats] = {}

    def failed(self, what: str, error: BaseException, *, traceback: bool = True, level: int = logging.ERROR) -> None:
        """Log that `what` happened because of an error, unless that was logged in the last minute."""
        signature, now = _signature(error), self._clock()
        with self._lock:
            old = [key for key, repeats in self._repeats.items() if now - repeats.seen_at > FORGET_SECONDS]
            for key in old:
                del self._repeats[key]
            repeats = self._repeats.get((what, signature))
            is_known = any(known == signature for _, known in self._repeats)
            if repeats is None:
                self._repeats[what, signature] = _Repeats(now, now)
                if traceback and not is_known:
                    self._log.log(level, "%s", what, exc_info=error)
                else:
                    self._log.log(level, "%s: %s", what, signature)
                return
            repeats.count, repeats.seen_at = repeats.count + 1, now
            if now - repeats.logged_at >= REPEAT_SECONDS:
                self._log.log(level, "%s: %s (%d more times)", what, signature, repeats.count)
                repeats.count, repeats.logged_at = 0, now

    @contextmanager
    def guard(self, task: str) -> Iterator[None]:
        """Log an error of the block instead of raising it, so that a background loop continues."""
        failure = f"{task} failed and will be retried"
        try:
            yield
        except Exception as error:
            self.failed(failure, error)
        else:
            if self.recovered(failure):
                self._log.info("%s works again", task)

    @property
    def has_failures(self) -> bool:
        """True if a task has failed and not succeeded since then."""
        return bool(self._repeats)

    def recovered(self, what: str) -> bool:
        """Forget the failures of `what`. Return True if there were any."""
        with self._lock:
            known = [key for key in self._repeats if key[0] == what]
            for key in known:
                del self._repeats[key]
        return bool(known)


def _signature(error: BaseException) -> str:
    """Return the error in one line, without details such as a file name, so that repetitions are recognized."""
    if isinstance(error, DBAPIError):
        error = error.orig or error
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error).partition("\n")[0]
    return f"{type(error).__name__}: {message}"

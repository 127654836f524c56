"""Log of repeated failures: the first one in full, then a count for each minute."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

REPEAT_SECONDS = 60.0
# A failure that was last seen this long ago is logged in full again.
FORGET_SECONDS = 600.0


@dataclass
class _Repeats:
    """One failure that keeps happening."""

    logged_at: float
    seen_at: float
    count: int = 0


class FailureLog:
    """Logs a failure with its traceback once, and how often it is repeated at most once a minute.

    The same error in several places gets one traceback.
    """

    def __init__(self, log: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = log, clock
        self._lock = threading.Lock()
        self._repeats: dict[tuple[str, str], _Repeats] = {}

    def failed(self, what: str, error: BaseException, *, traceback: bool = True, level: int = logging.ERROR) -> None:
        """Log that `what` happened because of an error, unless the same was logged in the last minute."""
        signature, now = _signature(error), self._clock()
        with self._lock:
            self._forget(now)
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

    def recovered(self, what: str) -> bool:
        """Forget the failures of `what`. Return whether there were any."""
        with self._lock:
            known = [key for key in self._repeats if key[0] == what]
            for key in known:
                del self._repeats[key]
        return bool(known)

    def _forget(self, now: float) -> None:
        old = [key for key, repeats in self._repeats.items() if now - repeats.seen_at > FORGET_SECONDS]
        for key in old:
            del self._repeats[key]


def _signature(error: BaseException) -> str:
    """Return the error in one line, without what differs from one time to the next."""
    if isinstance(error, DBAPIError):
        error = error.orig or error
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error).partition("\n")[0]
    return f"{type(error).__name__}: {said}"

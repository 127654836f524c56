"""Log lines that clients can cause: short, and a few of each kind a minute, so that nobody can fill the disk."""

import logging
import threading
import time
from collections.abc import Callable

# Loggers that write a line for what a client sends, signed in or not.
LOGGERS = ("uvicorn.error", "backend.errors")
LINES_PER_MINUTE = 10
LINE_LENGTH = 300
# Of the WebSocket library, for bytes that are no WebSocket; their tracebacks show only its own code.
CLIENT_FAULTS = ("opening handshake failed", "parser failed", "Invalid UTF-8 sequence received from client.")

# Each follows the line of a WebSocket that was denied, and adds nothing to it.
REPETITIONS = ("connection rejected (%d %s)", "ASGI callable returned without completing handshake.")


class LineLimit(logging.Filter):
    """Passes a few lines a minute from each place in the code, and reports how many it left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        # By place: when its minute began, and how many lines came in it.
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line is written, and shorten it."""
        if record.msg in REPETITIONS:
            return False
        left_out = self._count(record)
        if left_out is None:
            return False
        _shorten(record, left_out)
        return True

    def _count(self, record: logging.LogRecord) -> int | None:
        """Return how many lines were left out before this one; None to leave this one out as well."""
        place = (record.pathname, record.lineno)
        with self._lock:
            now = self._clock()
            began, lines = self._seen.get(place, (now, 0))
            left_out = 0
            if now - began >= 60:
                left_out = max(0, lines - LINES_PER_MINUTE)
                began, lines = now, 0
            self._seen[place] = (began, lines + 1)
            return left_out if lines < LINES_PER_MINUTE else None


def _shorten(record: logging.LogRecord, left_out: int) -> None:
    text = record.getMessage()
    if record.msg in CLIENT_FAULTS and record.exc_info:
        text = f"{text}: {record.exc_info[1]}"
        record.exc_info = record.exc_text = None
    text = text if len(text) <= LINE_LENGTH else f"{text[:LINE_LENGTH]}…"
    record.msg, record.args = f"{text} ({left_out:,} lines like it were left out)" if left_out else text, None


def limit_lines() -> None:
    """Limit the lines of every logger that clients can make write."""
    limit = LineLimit()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(limit)

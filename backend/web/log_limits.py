"""Rate limit for log lines that clients can cause, so that they cannot fill the disk."""

import logging
import threading
import time
from collections.abc import Callable

# Loggers that log a line for bad input of any client.
LOGGERS = ("uvicorn.error", "backend.errors")
LINES_PER_MINUTE = 10
MAX_LINE_LENGTH = 300
# Messages of the WebSocket library about invalid input. Their tracebacks show only its own code.
CLIENT_ERRORS = ("opening handshake failed", "parser failed", "Invalid UTF-8 sequence received from client.")
# Each follows the log line of a denied WebSocket, and adds nothing to it.
REDUNDANT_LINES = ("connection rejected (%d %s)", "ASGI callable returned without completing handshake.")


class LineRateLimit(logging.Filter):
    """Filter that passes a few lines a minute from each place in the code, and reports how many it dropped."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        # The start of the current minute and the lines in it, by place in the code.
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the line should be written, and shorten it."""
        if record.msg in REDUNDANT_LINES:
            return False
        dropped = self._count(record)
        if dropped is None:
            return False
        _shorten(record, dropped)
        return True

    def _count(self, record: logging.LogRecord) -> int | None:
        """Return how many lines were dropped before this one, or None to drop this one too."""
        place = (record.pathname, record.lineno)
        with self._lock:
            now = self._clock()
            began, lines = self._seen.get(place, (now, 0))
            dropped = 0
            if now - began >= 60:
                dropped = max(0, lines - LINES_PER_MINUTE)
                began, lines = now, 0
            self._seen[place] = (began, lines + 1)
            return dropped if lines < LINES_PER_MINUTE else None


def _shorten(record: logging.LogRecord, dropped: int) -> None:
    text = record.getMessage()
    if record.msg in CLIENT_ERRORS and record.exc_info:
        text = f"{text}: {record.exc_info[1]}"
        record.exc_info = record.exc_text = None
    text = text if len(text) <= MAX_LINE_LENGTH else f"{text[:MAX_LINE_LENGTH]}…"
    record.msg, record.args = f"{text} ({dropped:,} similar lines were dropped)" if dropped else text, None


def limit_log_lines() -> None:
    """Install the rate limit on all loggers that clients can trigger."""
    limit = LineRateLimit()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(limit)

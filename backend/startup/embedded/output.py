"""Lines of the parts: news and problems to standard output, and all of them to a log file.

A thread writes them, so that neither a full disk nor a stalled reader can block what prints them.
"""

import contextlib
import logging
import os
import queue
import re
import threading
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

STANDARD_OUTPUT = 1
MOST_WAITING = 10_000
LAST_WORDS_SECONDS = 2.0
LARGEST_LOG_BYTES, OLDER_LOGS = 10_000_000, 4

# As workers.contract.log_lines formats them.
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: (?P<level>[A-Z]+) )?")
_QUIET_LEVELS = ("DEBUG", "INFO")
# Redis warns of settings of the machine at each start. `arcadia up` itself reports a Redis that ends.
_QUIET_PARTS = ("redis",)


class Output:
    """Writes lines in their order for as long as they can be written. Others are dropped."""

    def __init__(self, descriptor: int = STANDARD_OUTPUT, log: Path | None = None) -> None:
        self._descriptor = descriptor
        self._log = _LogFile(log) if log else None
        self._shows: dict[str, bool] = {}
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(MOST_WAITING)
        self._writer = threading.Thread(target=self._write_all, name="output", daemon=True)
        self._writer.start()

    def say(self, part: str, line: str) -> None:
        """Print one line under the name of a part, soon."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait((part, line))

    def close(self) -> None:
        """Write what waits, unless nobody reads it."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._writer.join(LAST_WORDS_SECONDS)

    def _write_all(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            part, line = waiting
            if self._log:
                self._log.write(part, line)
            if self._log is None or self._is_shown(part, line):
                # A disk may have room again for the next line.
                with contextlib.suppress(OSError):
                    self._write(f"{part:<8} | {line}\n".encode())

    def _is_shown(self, part: str, line: str) -> bool:
        """Return whether a line is a problem or news. A line without a level belongs to the one before it."""
        if part in _QUIET_PARTS:
            return False
        if logged := _LOGGED.match(line):
            self._shows[part] = logged["level"] not in _QUIET_LEVELS
        return self._shows.get(part, True)

    def _write(self, rest: bytes) -> None:
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class _LogFile(RotatingFileHandler):
    """The log of all lines, each with its time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, maxBytes=LARGEST_LOG_BYTES, backupCount=OLDER_LOGS, encoding="utf-8", delay=True)

    def write(self, part: str, line: str) -> None:
        """Write a line."""
        timed = line if _LOGGED.match(line) else f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}"
        self.handle(logging.makeLogRecord({"msg": f"{part:<8} | {timed}"}))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name of logging
        """Drop a line that a full disk refuses."""

"""Output of the processes: problems and news to standard output, and all lines to a log file.

A thread writes the lines, so that a full disk or a stalled terminal cannot block the processes.
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
MAX_WAITING_LINES = 10_000
CLOSE_TIMEOUT_SECONDS = 2.0
MAX_LOG_BYTES, OLDER_LOGS = 10_000_000, 4

# The format of workers.contract.log_lines.
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: (?P<level>[A-Z]+) )?")
_QUIET_LEVELS = ("DEBUG", "INFO")
# Redis warns about system settings at each start. `arcadia up` reports a Redis that exits.
_QUIET_PARTS = ("redis",)


class Output:
    """Writer of lines in order. It drops lines that cannot be written."""

    def __init__(self, descriptor: int = STANDARD_OUTPUT, log: Path | None = None) -> None:
        self._descriptor = descriptor
        self._log = _LogFile(log) if log else None
        self._shows: dict[str, bool] = {}
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(MAX_WAITING_LINES)
        self._writer = threading.Thread(target=self._write_all, name="output", daemon=True)
        self._writer.start()

    def say(self, part: str, line: str) -> None:
        """Queue one line of a process for printing."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait((part, line))

    def close(self) -> None:
        """Write the waiting lines, unless the reader is stalled."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._writer.join(CLOSE_TIMEOUT_SECONDS)

    def _write_all(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            part, line = waiting
            if self._log:
                self._log.write(part, line)
            if self._log is None or self._is_shown(part, line):
                # The disk may have space again for the next line.
                with contextlib.suppress(OSError):
                    self._write(f"{part:<8} | {line}\n".encode())

    def _is_shown(self, part: str, line: str) -> bool:
        """Return True if a line is a problem or news. A line without a level belongs to the line before it."""
        if part in _QUIET_PARTS:
            return False
        if logged := _LOGGED.match(line):
            self._shows[part] = logged["level"] not in _QUIET_LEVELS
        return self._shows.get(part, True)

    def _write(self, rest: bytes) -> None:
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class _LogFile(RotatingFileHandler):
    """Log file of all lines with their times."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, maxBytes=MAX_LOG_BYTES, backupCount=OLDER_LOGS, encoding="utf-8", delay=True)

    def write(self, part: str, line: str) -> None:
        """Write a line."""
        timed = line if _LOGGED.match(line) else f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}"
        self.handle(logging.makeLogRecord({"msg": f"{part:<8} | {timed}"}))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a name of the logging package
        """Drop a line that a full disk refuses."""

"""The journal of a writer: a file with one event per line. It is complete even if the process is killed."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arcadia.reporting.values import encode_event

RETRY_SECONDS = 1.0


class Journal:
    """Writer of a journal.

    Each event is appended by one system call, so a killed process loses none of its events. Events that the disk does
    not take are kept in memory and written later, in order. A forked process appends to the same file.

    Events have no sequence numbers in the file: an event's number is its line.
    """

    is_disabled = False

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lock = threading.RLock()
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._waiting: deque[bytes] = deque()
        self._retry_at = 0.0
        _open_journals.add(self)

    def append(self, event: Mapping[str, Any]) -> None:
        """Append an event with its time. It has `kind` and the fields of the API except `seq`."""
        self.append_line(encode_event(event, time.time()))

    def append_line(self, line: bytes) -> None:
        """Append an encoded event that ends with a line feed."""
        with self.lock:
            if self._waiting:
                self._waiting.append(line)
                if time.monotonic() >= self._retry_at:
                    self._retry()
                return
            if error := self._write(line):
                self._waiting.append(line)
                self._retry_at = time.monotonic() + RETRY_SECONDS
                _warn(f"The disk does not take events ({error}). They are kept in memory and written later.")

    def close(self, seconds: float = 5.0) -> int:
        """Close the file and return the number of events that could not be written in this time."""
        deadline = time.monotonic() + seconds
        with self.lock:
            self._retry()
            while self._waiting and time.monotonic() < deadline:
                time.sleep(0.1)
                self._retry()
            lost = len(self._waiting)
            self._waiting.clear()
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
        if lost:
            _warn(f"{lost} events are lost, because the disk of {self.file} did not take them.")
        return lost

    def after_fork(self) -> None:
        """Drop waiting lines, which the parent writes, and a lock that a thread of the parent may have held."""
        self.lock = threading.RLock()
        self._waiting.clear()

    def _write(self, line: bytes) -> str | None:
        """Append a line completely. Otherwise append nothing and return the reason."""
        try:
            written = os.write(self._descriptor, line)
            if written == len(line):
                return None
            # The disk is full. Remove the partial line, because other processes append to this file.
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
            return os.strerror(errno.ENOSPC)
        except OSError as error:
            return error.strerror or str(error)

    def _retry(self) -> None:
        """Write waiting lines. Reopen the file, because a network disk may have invalidated the descriptor."""
        if not self._waiting:
            return
        self._retry_at = time.monotonic() + RETRY_SECONDS
        try:
            opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError:
            return
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = opened
        while self._waiting and self._write(self._waiting[0]) is None:
            self._waiting.popleft()
        if not self._waiting:
            _warn("The disk takes events again. None is lost.")


class DisabledJournal(Journal):
    """A journal that discards all events."""

    is_disabled = True

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def append(self, event: Mapping[str, Any]) -> None:
        """Discard an event."""

    def append_line(self, line: bytes) -> None:
        """Discard an event."""

    def close(self, seconds: float = 0.0) -> int:  # noqa: ARG002 - a journal's signature
        """Return that nothing is lost."""
        return 0


def _warn(message: str) -> None:
    print(f"arcadia: {message}", file=sys.stderr, flush=True)


_open_journals: weakref.WeakSet[Journal] = weakref.WeakSet()


def _after_fork() -> None:
    for journal in _open_journals:
        journal.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

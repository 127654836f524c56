"""The journal of a writer, written and read: a file with one event per line, complete even after a kill. Its locks."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arcadia.errors import ArcadiaError
from arcadia.reporting.layout import JournalDirectory, WriterFiles
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


_START, _END = b'{"kind":"', b"}\n"
END_OF_RUN = b'{"kind":"end"'
_WITH_STEP = (b'{"kind":"metrics"', b'{"kind":"media"')
_SYSTEM_METRICS = b'"values":{"system/'
# The last step is searched for in this many bytes at the end of a journal.
TAIL_BYTES = 65_536


class JournalReader:
    """Reader of a writer's events. The first event is the provenance. Corrections of the registration may follow.

    The others are the lines of the journal.

    Only complete lines are read. Lines that are not events are skipped and have no number.
    """

    def __init__(self, files: WriterFiles) -> None:
        self._files = files
        self.number = 0
        self.has_ended = False
        self._offset = 0

    def seek(self, number: int) -> None:
        """Continue after the event with this number, or after the last one if a power failure removed it."""
        self.number, self._offset, self.has_ended = 0, 0, False
        while self.number < number and self.read(min(1_000, number - self.number), 2**30):
            pass

    def position(self) -> tuple[int, int, bool]:
        """Return the position for `return_to`."""
        return self.number, self._offset, self.has_ended

    def return_to(self, position: tuple[int, int, bool]) -> None:
        """Read again from an earlier position."""
        self.number, self._offset, self.has_ended = position

    def read(self, limit: int, limit_bytes: int) -> list[tuple[int, bytes]]:
        """Return the next events with their numbers, within the limits. A larger event is returned alone."""
        lines: list[tuple[int, bytes]] = []
        size = 0
        for line, offset in self._lines():
            if lines and (len(lines) == limit or size + len(line) > limit_bytes):
                break
            self._offset = offset
            if line.startswith(_START) and line.endswith(_END):
                self.number += 1
                size += len(line)
                self.has_ended = self.has_ended or line.startswith(END_OF_RUN)
                lines.append((self.number, line[:-1]))
        return lines

    def _lines(self) -> Iterator[tuple[bytes, int]]:
        """Yield complete lines after the current offset, each with the offset of the next one."""
        if self.number == 0:
            yield self._files.provenance.read_bytes(), 0
        if self.number == 1 and self._offset == 0 and self._files.corrections.exists():
            yield self._files.corrections.read_bytes(), 0
        if not self._files.journal.exists():
            return
        offset = self._offset
        with self._files.journal.open("rb") as journal:
            journal.seek(offset)
            for line in journal:
                if not line.endswith(b"\n"):
                    return
                offset += len(line)
                yield line, offset


def numbered(number: int, line: bytes) -> bytes:
    """Return an event with its sequence number, as the API expects it."""
    return b'{"seq":%d,' % number + line[1:]


def read_last_step(directory: JournalDirectory) -> int:
    """Return the last step in the journals of a run, or -1 if they have none."""
    for files in reversed(directory.writers()):
        for line in reversed(read_tail(files)):
            if (step := step_of(line)) is not None:
                return step
    return -1


def read_tail(files: WriterFiles) -> list[bytes]:
    """Return the last lines of a writer's journal. The first one may lack its beginning."""
    if not files.journal.exists():
        return []
    with files.journal.open("rb") as journal:
        journal.seek(-min(TAIL_BYTES, files.journal.stat().st_size), os.SEEK_END)
        return journal.read().split(b"\n")


def step_of(line: bytes) -> int | None:
    """Return the step that a script has logged with a line. System metrics are not logged by the script."""
    if not line.startswith(_WITH_STEP) or _SYSTEM_METRICS in line:
        return None
    try:
        return int(json.loads(line)["step"])
    except (ValueError, LookupError, TypeError):  # for example, a killed process has not finished its last line
        return None


try:
    import fcntl
except ImportError:
    raise ArcadiaError("Runs are logged on Linux and macOS. On Windows, use the Windows Subsystem for Linux.") from None

# Some network disks have no locks.
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class WriterLock:
    """The lock of a writer's process. Forked processes do not hold it, so it shows that the script itself lives."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
        try:
            # Unlike flock, lockf locks for this process only. Closing any descriptor of the file releases it.
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def is_writer_alive(file: Path) -> bool:
    """Return True if a writer's process is alive. It must not be this process."""
    try:
        with file.open("r+") as lock:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                return _is_process_alive(lock.read()) if error.errno in _UNSUPPORTED else True
            return False
    except FileNotFoundError:
        return False


def _is_process_alive(holder: str) -> bool:
    """Return False only if the process has certainly ended. Processes of other hosts cannot be checked."""
    try:
        process = json.loads(holder)
        if process["host"] == socket.gethostname():
            os.kill(process["pid"], 0)
    except (ValueError, KeyError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def exclusive(file: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of a directory's uploader. Yield False if another process holds it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        held = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            held = False
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        yield held
    finally:
        os.close(descriptor)

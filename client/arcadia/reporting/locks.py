"""Locks that end with the process that holds them, even if it is killed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from arcadia.errors import ArcadiaError

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

"""Removal of deleted files from the disk. It is suspended while a backup copies files."""

import fcntl
import logging
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from backend.failure_log import FailureLog
from backend.refusals import NotNowError
from workers.contract.paths import OutsideFolderError, path_inside

log = logging.getLogger(__name__)

HOLD = ".hold"
# Locked by the running backup, which then waits for HOLD until a removal is done.
BACKUP = ".backup"

# Files to remove after the backup. After a crash the sweep at the next start finds them.
_waiting: defaultdict[Path, set[str]] = defaultdict(set)
_failures = FailureLog(log)
_lock = threading.Lock()


@contextmanager
def hold(root: Path) -> Iterator[None]:
    """Suspend the removal of files in all backends until the block ends. Raise NotNowError during another backup."""
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(root / BACKUP, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            raise NotNowError(f"Another backup of {root.parent} is running. Wait until it is done.") from None
        stack.enter_context(_locked(root / HOLD, fcntl.LOCK_EX))
        yield


def remove(root: Path, stored: str) -> None:
    """Remove a file now, or after the running backup. Ignore a missing file."""
    with _lock:
        _waiting[root].add(stored)
    remove_waiting(root)


def remove_waiting(root: Path) -> None:
    """Remove the waiting files, unless a backup is running."""
    with _lock:
        if not _waiting[root]:
            return
        try:
            with _locked(root / HOLD, fcntl.LOCK_SH | fcntl.LOCK_NB):
                _waiting[root] = {stored for stored in _waiting[root] if not _removed(root, stored)}
        except BlockingIOError:
            return


def _removed(root: Path, stored: str) -> bool:
    """Remove one file. Return False to try again later."""
    try:
        path = path_inside(root, stored)
    except OutsideFolderError as error:
        log.warning("A deleted file is left on disk: %s", error)
        return True
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _failures.failed(f"Cannot remove {path}. Will retry", error, traceback=False, level=logging.WARNING)
        return False
    _failures.recovered(f"Cannot remove {path}. Will retry")
    return True


@contextmanager
def _locked(file: Path, how: int) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)

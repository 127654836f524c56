"""Removes files that no row names any more, and holds that back while a backup copies them."""

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
# Locked by the one backup at a time, which waits for HOLD only as long as a removal takes.
BACKUP = ".backup"

# Of files whose removal was held back; what a crash forgets here is swept at the next start.
_waiting: defaultdict[Path, set[str]] = defaultdict(set)
_failures = FailureLog(log)
_lock = threading.Lock()


@contextmanager
def hold(root: Path) -> Iterator[None]:
    """Have every backend leave files where they are until the block ends, or this process; refuse a second holder."""
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(root / BACKUP, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            raise NotNowError(f"Another backup of {root.parent} is being made. Wait until it has ended.") from None
        stack.enter_context(_locked(root / HOLD, fcntl.LOCK_EX))
        yield


def remove(root: Path, stored: str) -> None:
    """Remove a file's bytes, now or once nobody holds it back; it is no error if they are gone."""
    with _lock:
        _waiting[root].add(stored)
    remove_waiting(root)


def remove_waiting(root: Path) -> None:
    """Remove what waits, unless it is still held back."""
    with _lock:
        if not _waiting[root]:
            return
        try:
            with _locked(root / HOLD, fcntl.LOCK_SH | fcntl.LOCK_NB):
                _waiting[root] = {stored for stored in _waiting[root] if not _removed(root, stored)}
        except BlockingIOError:
            return


def _removed(root: Path, stored: str) -> bool:
    """Remove one file; one that cannot be removed keeps no other from it, and is tried again."""
    try:
        path = path_inside(root, stored)
    except OutsideFolderError as error:
        log.warning("A deleted file is left on disk: %s", error)
        return True
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _failures.failed(f"Cannot remove {path}, and try again", error, traceback=False, level=logging.WARNING)
        return False
    _failures.recovered(f"Cannot remove {path}, and try again")
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

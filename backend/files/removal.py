"""Removes files that no row names any more, and holds that back while a backup copies them."""

import fcntl
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLD = ".hold"

# Of files whose removal was held back; what a crash forgets here is swept at the next start.
_waiting: defaultdict[Path, set[str]] = defaultdict(set)
_lock = threading.Lock()


@contextmanager
def hold(root: Path) -> Iterator[None]:
    """Have every backend leave files where they are until the block ends, or this process."""
    with _locked(root, fcntl.LOCK_EX):
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
            with _locked(root, fcntl.LOCK_SH | fcntl.LOCK_NB):
                while _waiting[root]:
                    (root / _waiting[root].pop()).unlink(missing_ok=True)
        except BlockingIOError:
            return


@contextmanager
def _locked(root: Path, how: int) -> Iterator[None]:
    root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root / HOLD, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)

"""The data folder: its permissions, its lock and its worker token."""

import fcntl
import logging
import os
import secrets
import tempfile
from pathlib import Path

from backend.refusals import NotNowError, RefusedError

log = logging.getLogger(__name__)


class FolderInUseError(NotNowError):
    """Another `arcadia up` uses the data folder."""


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can read. Raise RefusedError if it is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise RefusedError(f"Cannot write to the folder {folder.resolve()}: {error.strerror}.") from None
    try:
        folder.chmod(0o700)
    except PermissionError:
        log.warning("Other users may be able to read %s. This user does not own it, so its permissions stay.", folder)


def lock(folder: Path) -> int:
    """Lock the folder until the process ends. Return the descriptor that holds the lock."""
    make_private_folder(folder)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise FolderInUseError(
            f"Another `arcadia up` already uses {folder}. Stop it first, or give this one its own folder with --data."
        ) from None
    return descriptor


def worker_token(folder: Path) -> str:
    """Return the worker token. Create it at the first start, readable only by its owner."""
    file = folder / "worker-token"
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as writing:
            writing.write(secrets.token_urlsafe(32) + "\n")
        fresh.replace(file)
    return file.read_text().strip()

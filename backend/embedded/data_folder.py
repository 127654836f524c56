"""The data folder: one installation at a time, and its worker token."""

import fcntl
import os
import secrets
from pathlib import Path


class FolderInUseError(RuntimeError):
    """Another `arcadia up` has the data folder."""


def lock(folder: Path) -> int:
    """Take the folder for this process and return the descriptor that holds it until the process ends."""
    folder.mkdir(parents=True, exist_ok=True)
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
    """Return the token that workers show the backend, made at the first start and readable by its owner alone."""
    file = folder / "worker-token"
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as writing:
            writing.write(secrets.token_urlsafe(32) + "\n")
        fresh.replace(file)
    return file.read_text().strip()

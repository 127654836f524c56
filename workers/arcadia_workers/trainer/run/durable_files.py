"""Files that are written completely or not at all, even if the power fails."""

import contextlib
import errno
import os
from pathlib import Path

RESERVE = ".reserve"
# Enough for the last events.
MIN_RESERVE_BYTES = 1_000_000


def is_disk_full(error: OSError) -> bool:
    """Return True if an error says that the disk, or the user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


class Reserve:
    """A file that holds space on the disk, so that a run can still save and report its end when the disk is full."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / RESERVE
        self._bytes = 0

    def hold(self, content_bytes: int = 0) -> None:
        """Hold space for the last events and this content. Do without it if there is no space."""
        wanted = MIN_RESERVE_BYTES + content_bytes
        if wanted <= self._bytes:
            return
        try:
            with self._path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, wanted)
        except OSError:
            self.release()
        else:
            self._bytes = wanted

    def release(self) -> None:
        """Give the space to the next writes."""
        self._bytes = 0
        with contextlib.suppress(OSError):  # the folder is gone
            self._path.unlink(missing_ok=True)


def temporary(path: Path) -> Path:
    """Return the path of the file that becomes `path` when it is complete."""
    return path.with_name(f".{path.name}.tmp")


def write(path: Path, content: bytes) -> None:
    """Write a temporary file, sync it and rename it."""
    unfinished = temporary(path)
    try:
        unfinished.write_bytes(content)
        publish(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def publish(unfinished: Path, path: Path) -> None:
    """Rename a complete file durably."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.rename(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def remove_temporary(directory: Path) -> None:
    """Delete temporary files that a killed writer left behind."""
    for unfinished in directory.glob(".*.tmp"):
        unfinished.unlink(missing_ok=True)

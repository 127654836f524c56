"""Files that are written completely or not at all, even if the power fails."""

import os
from pathlib import Path


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

"""Files that are there completely or not at all, whenever the power goes."""

import os
from pathlib import Path


def temporary(path: Path) -> Path:
    """Name the file that becomes `path` when it is complete."""
    return path.with_name(f".{path.name}.tmp")


def write(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there once the disk has it."""
    part = temporary(path)
    try:
        part.write_bytes(content)
        publish(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def publish(part: Path, path: Path) -> None:
    """Move a complete file to its place, durably."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.rename(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def remove_temporary(directory: Path) -> None:
    """Delete what a killed writer left behind."""
    for part in directory.glob(".*.tmp"):
        part.unlink(missing_ok=True)

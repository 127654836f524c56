"""Containment of stored names, so that a name from a database, a message or a backup never leaves its folder."""

from pathlib import Path, PurePosixPath


class OutsideFolderError(ValueError):
    """A stored name points outside its folder."""


def path_inside(root: Path, stored: str) -> Path:
    """Return root / stored. Raise OutsideFolderError if that is not below root, even through a symlink."""
    name = PurePosixPath(stored)
    path = root / name
    try:
        leaves = name.is_absolute() or ".." in name.parts or not name.parts or "\0" in stored
        leaves = leaves or not path.resolve().is_relative_to(root.resolve())
    except (ValueError, OSError, RuntimeError):  # such as a loop of symlinks
        leaves = True
    if leaves:
        raise OutsideFolderError(f"The stored name {stored[:255]!r} points outside its folder.")
    return path

"""Ownership of the files folder: it must have the same identity as the database, or nothing is swept.

A database marks an empty folder as its own. A database of an earlier version, without an identity, takes over a folder
that contains one of its files. No other pair is matched automatically.
"""

import os
import secrets
from pathlib import Path

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.database.engine import Database
from backend.database.tables import File, Installation
from backend.files.storage import stored_files
from workers.contract.paths import OutsideFolderError, path_inside

MARK = ".installation"


def check_owner(database: Database, root: Path) -> str | None:
    """Return a warning if the folder belongs to another database. Mark a folder that has no owner yet."""
    with database.write() as session:
        row = {"identity": secrets.token_hex(16)}
        # If several backends start together, one adds the row, and the others wait for its commit.
        added = session.execute(
            text("INSERT INTO installation (id, identity) VALUES (1, :identity) ON CONFLICT (id) DO NOTHING"), row
        )
        ours = session.get_one(Installation, 1)
        _claim_folder(session, root, ours, is_new=added.rowcount == 1)  # type: ignore[attr-defined]
        if read_mark(root) == ours.identity:
            return None
        return (
            f"{root} belongs to another database, so its files are not swept. Start with the right database, or "
            f"with another data folder. If the two do belong together, write {ours.identity} into {root / MARK}."
        )


def read_identity(database: Database) -> str:
    """Return the identity of the database. Call `check_owner` first, which creates it."""
    with database.read() as session:
        return session.get_one(Installation, 1).identity


def _claim_folder(session: Session, root: Path, ours: Installation, *, is_new: bool) -> None:
    marked = read_mark(root)
    if not stored_files(root):
        write_mark(root, ours.identity)
    elif is_new and _has_file_in(session, root):
        ours.identity = marked or ours.identity
        write_mark(root, ours.identity)


def read_mark(root: Path) -> str | None:
    """Return the identity of a files folder, or None."""
    try:
        return (root / MARK).read_text().strip() or None
    except FileNotFoundError:
        return None


def write_mark(root: Path, identity: str) -> None:
    """Write the identity of a files folder."""
    root.mkdir(parents=True, exist_ok=True)
    fresh = root / f"{MARK}.new"
    with fresh.open("w") as file:
        file.write(f"{identity}\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(root / MARK)


def _has_file_in(session: Session, root: Path) -> bool:
    """Return True if the folder has one of the database's files. Paths are random, so this proves ownership."""
    return any(_is_stored(root, place) for place in session.scalars(select(File.stored_path)))


def _is_stored(root: Path, place: str) -> bool:
    try:
        return path_inside(root, place).is_file()
    except OutsideFolderError:
        return False

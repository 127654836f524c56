"""Whether the database and the files folder are one installation: both bear the same identity, or nothing is swept.

A database marks an empty folder as its own. One from before identities takes the folder in which it finds one
of its files. Any other pair never agrees by itself.
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


def dispute(database: Database, root: Path) -> str | None:
    """Say in a sentence that the folder is not the database's; settle it where one of them has no identity yet."""
    with database.write() as session:
        row = {"identity": secrets.token_hex(16)}
        # Of several backends that start at once one adds the row, and the others wait here for its commit.
        added = session.execute(
            text("INSERT INTO installation (id, identity) VALUES (1, :identity) ON CONFLICT (id) DO NOTHING"), row
        )
        ours = session.get_one(Installation, 1)
        _settle(session, root, ours, is_new=added.rowcount == 1)  # type: ignore[attr-defined]
        if read_mark(root) == ours.identity:
            return None
        return (
            f"{root} belongs to another database, so nothing is swept there. Start with the database that "
            f"it belongs to, or with another data folder; if these two do belong together, write {ours.identity} "
            f"into {root / MARK}."
        )


def identity_of(database: Database) -> str:
    """Return the identity of a database that has been asked for a dispute."""
    with database.read() as session:
        return session.get_one(Installation, 1).identity


def _settle(session: Session, root: Path, ours: Installation, *, is_new: bool) -> None:
    marked = read_mark(root)
    if not stored_files(root):
        write_mark(root, ours.identity)
    elif is_new and _names_one_of(session, root):
        ours.identity = marked or ours.identity
        write_mark(root, ours.identity)


def read_mark(root: Path) -> str | None:
    """Return the identity that a files folder bears."""
    try:
        return (root / MARK).read_text().strip() or None
    except FileNotFoundError:
        return None


def write_mark(root: Path, identity: str) -> None:
    """Give a files folder its identity."""
    root.mkdir(parents=True, exist_ok=True)
    fresh = root / f"{MARK}.new"
    with fresh.open("w") as file:
        file.write(f"{identity}\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(root / MARK)


def _names_one_of(session: Session, root: Path) -> bool:
    """Places are random, so that a database which names one of the files has made it."""
    return any(_is_stored(root, place) for place in session.scalars(select(File.stored_path)))


def _is_stored(root: Path, place: str) -> bool:
    try:
        return path_inside(root, place).is_file()
    except OutsideFolderError:
        return False

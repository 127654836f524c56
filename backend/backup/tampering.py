"""Check that a backup was not tampered with to write outside the data folder."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from backend.backup.manifest import DATABASE, FILES, Manifest
from backend.refusals import RefusedError
from workers.contract.paths import OutsideFolderError, path_inside
from workers.contract.worker_api import RUN_PATH


def refuse_tampered(source: Path, manifest: Manifest) -> None:
    """Raise RefusedError if the backup has symlinks, or if its database has a path outside the files folder."""
    files = source / FILES
    foreign = [each.path for each in manifest.files if each.is_foreign(files)]
    if files.is_symlink() or foreign:
        raise _refusal(source, f"{foreign[0] if foreign else FILES} is or contains a symbolic link")
    seen: set[str] = set()
    for number, place in _stored_paths(source / DATABASE):
        if not _is_stored_path(files, place):
            raise _refusal(source, f"file {number} is stored at {str(place)[:255]!r}, outside the files folder")
        if place in seen:
            raise _refusal(source, f"file {number} is stored at {place!r}, like another file")
        seen.add(place)


def _stored_paths(database: Path) -> list[tuple[int, str]]:
    """Read the stored path of each file, without opening the database for writing."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return list(connection.execute("SELECT id, stored_path FROM files ORDER BY id"))
    except sqlite3.Error as error:
        raise RefusedError(f"{database} is not a database of Arcadia ({error}), so nothing was restored.") from None


def _is_stored_path(files: Path, place: object) -> bool:
    if not isinstance(place, str) or not re.fullmatch(RUN_PATH, place):
        return False
    try:
        path_inside(files, place)
    except OutsideFolderError:
        return False
    return True


def _refusal(source: Path, finding: str) -> RefusedError:
    return RefusedError(
        f"The backup in {source} was changed after it was made: {finding}. Nothing was restored. "
        "Use a backup that you trust."
    )

"""The manifest: the content of a backup with hashes. It is written last, so an incomplete backup has none."""

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection, Table, func, select, text

import arcadia_backend.metrics.points  # noqa: F401 - its tables are copied too
from arcadia_backend.database.tables import Base
from arcadia_backend.refusals import RefusedError
from arcadia_workers.contract.layout import OutsideFolderError, path_inside
from arcadia_workers.contract.worker_api import RUN_PATH, RunPath

BATCH = 500


def copy_rows(source: Connection, target: Connection) -> None:
    """Replace all rows of the target, and the next id of each table."""
    for table in reversed(Base.metadata.sorted_tables):
        target.execute(table.delete())
    for table in Base.metadata.sorted_tables:
        rows = source.execution_options(yield_per=BATCH).execute(select(table))
        for batch in rows.mappings().partitions(BATCH):
            target.execute(table.insert(), [dict(row) for row in batch])
        if table.autoincrement_column is not None:
            _set_last_id(target, table, _last_id(source, table))


def _last_id(source: Connection, table: Table) -> int:
    """Return the last assigned id, also if its row was deleted."""
    column = table.autoincrement_column
    numbers = [source.scalar(select(func.max(column)))]
    if source.dialect.name == "postgresql":
        row = source.execute(text(f"SELECT last_value, is_called FROM {_sequence(source, table)}")).one()  # noqa: S608
        numbers.append(row.last_value if row.is_called else 0)
    elif _has_autoincrement(table):
        query = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        numbers.append(source.scalar(query, {"name": table.name}))
    return max(number or 0 for number in numbers)


def _set_last_id(target: Connection, table: Table, last: int) -> None:
    if target.dialect.name == "postgresql":
        values = {"sequence": _sequence(target, table), "last": max(last, 1), "given": last > 0}
        target.execute(text("SELECT setval(CAST(:sequence AS regclass), :last, :given)"), values)
    elif _has_autoincrement(table):
        target.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        row = {"name": table.name, "last": last}
        target.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), row)


def _has_autoincrement(table: Table) -> bool:
    return bool(table.dialect_options["sqlite"]["autoincrement"])


def _sequence(connection: Connection, table: Table) -> str:
    column = table.autoincrement_column
    values = {"table": table.name, "column": column.name if column is not None else None}
    return str(connection.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), values))


NAME = "backup.json"
FORMAT = 1
DATABASE = "database.db"
FILES = "files"


class Content(BaseModel):
    """A file of a backup: its path, hash and size."""

    # A backup from elsewhere must not contain a path outside its folder.
    path: RunPath
    sha256: str
    bytes: int

    def is_sound(self, folder: Path) -> bool:
        """Return True if the file exists with the right size and hash."""
        if self.is_foreign(folder):
            return False
        path = folder / self.path
        return path.is_file() and path.stat().st_size == self.bytes and hash_of(path) == self.sha256

    def is_foreign(self, folder: Path) -> bool:
        """Return True if the path leads through a symlink. Arcadia writes none into a backup."""
        try:
            return path_inside(folder, self.path).resolve() != folder.resolve() / self.path
        except OutsideFolderError:
            return True


class Manifest(BaseModel):
    """The content of a backup."""

    format: int = FORMAT
    arcadia: str
    made_at: datetime
    database: Content
    files: list[Content]

    def write(self, folder: Path) -> None:
        """Write the manifest, which completes the backup."""
        fresh = folder / f"{NAME}.new"
        fresh.write_text(self.model_dump_json(indent=1))
        fresh.replace(folder / NAME)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raise RefusedError if it is missing or invalid."""
    try:
        manifest = Manifest.model_validate_json((folder / NAME).read_bytes())
    except OSError as error:
        raise RefusedError(f"{folder} is not a complete backup: {NAME} is missing ({error.strerror}).") from None
    except ValidationError:
        raise RefusedError(f"{folder / NAME} cannot be read. It is damaged, or from another version.") from None
    if manifest.format != FORMAT:
        raise RefusedError(f"{folder} was made by Arcadia {manifest.arcadia}, which is too new for this version.")
    return manifest


def verify(folder: Path, contents: Sequence[Content]) -> tuple[list[Content], list[Content]]:
    """Split contents into sound files and damaged ones."""
    sound: list[Content] = []
    damaged: list[Content] = []
    for each in contents:
        (sound if each.is_sound(folder) else damaged).append(each)
    return sound, damaged


def paths(contents: Sequence[Content]) -> str:
    """Return the paths, separated by commas."""
    return ", ".join(each.path for each in contents)


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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

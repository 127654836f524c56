"""Copies of the database that are made before a migration, so that the earlier version can be used again.

A copy is made and verified before the first change, while the lock of migrations is held. Files are not copied, since
migrations do not change them.
"""

import logging
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

from arcadia_backend.refusals import RefusedError

log = logging.getLogger(__name__)

FOLDER = "migration-copies"
KEPT = 3
# Space that must stay free besides the copy.
MARGIN_BYTES = 50_000_000
WITHOUT = "To migrate without a copy, set ARCADIA_MIGRATION_COPY=0."


def copy_before(url: URL, size: int, data_dir: Path, schema: str) -> Path:
    """Copy and verify the database of a schema. Raise RefusedError if there is no space, or if that fails."""
    folder = data_dir / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if size + MARGIN_BYTES > free:
        raise RefusedError(
            f"Before it migrates the database, Arcadia copies it to {folder}. That needs "
            f"{_megabytes(size + MARGIN_BYTES)}, and {_megabytes(free)} are free. Nothing was changed. {WITHOUT}"
        )
    suffix = "db" if url.get_backend_name() == "sqlite" else "dump"
    target = folder / f"schema-{schema}-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.{suffix}"
    unfinished = folder / f".{target.name}"
    try:
        if suffix == "db":
            _copy_sqlite(Path(str(url.database)), unfinished)
        else:
            _dump_postgresql(url, unfinished)
        unfinished.chmod(0o600)
        unfinished.replace(target)
    except OSError as error:
        raise RefusedError(f"The copy of the database in {folder} failed: {error.strerror}. {WITHOUT}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    log.info("Copied the database of schema %s to %s before migrating it.", schema, target)
    for old in copies(data_dir)[:-KEPT]:
        with suppress(OSError):
            old.unlink()
    return target


def copies(data_dir: Path) -> list[Path]:
    """Return the copies, oldest first."""
    found = [*(data_dir / FOLDER).glob("schema-*.db"), *(data_dir / FOLDER).glob("schema-*.dump")]
    return sorted(found, key=lambda path: path.stat().st_mtime)


def how_to_return(data_dir: Path, url: URL, known: str) -> str | None:
    """Return the command that puts the newest copy of a schema in place, or None if there is none."""
    found = [path for path in copies(data_dir) if path.name.startswith(f"schema-{known}-")]
    if not found:
        return None
    if url.get_backend_name() == "sqlite":
        database = url.database
        return f"stop Arcadia, then run: rm -f {database}-wal {database}-shm && cp {found[-1]} {database}"
    return f"stop Arcadia, then run: pg_restore --clean --if-exists --dbname=DATABASE {found[-1]}"


def database_bytes(connection: Connection) -> int:
    """Return the size of the database."""
    if connection.dialect.name == "postgresql":
        return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
    pages, size = (int(connection.scalar(text(f"PRAGMA {name}")) or 0) for name in ("page_count", "page_size"))
    return pages * size


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database, also while it is read, and check the copy."""
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy)
        problem = copy.execute("PRAGMA quick_check").fetchone()[0]
        if problem != "ok":
            raise RefusedError(f"The database {source} is damaged: {problem}. Nothing was changed. {WITHOUT}")
        if _row_counts(original) != _row_counts(copy):
            raise RefusedError(f"The copy of {source} differs from it. Nothing was changed. {WITHOUT}")


def _row_counts(database: sqlite3.Connection) -> Mapping[str, int]:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}  # noqa: S608


def _dump_postgresql(url: URL, target: Path) -> None:
    """Dump a database, and check that the dump lists its tables."""
    given = {
        "PGHOST": url.query.get("host", url.host),
        "PGPORT": url.port,
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
    }
    environment = os.environ | {name: str(value) for name, value in given.items() if value}
    _run(["pg_dump", "--format=custom", "--no-owner", f"--file={target}"], environment)
    _run(["pg_restore", "--list", str(target)], environment)


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RefusedError(
            f"Before it migrates the database, Arcadia copies it with {command[0]}, which is not installed. Install "
            f"PostgreSQL's client programs (Debian: postgresql-client). Nothing was changed. {WITHOUT}"
        ) from None
    if done.returncode != 0:
        reason = " ".join(done.stderr.split())[:500] or "no message"
        raise RefusedError(f"{command[0]} could not copy the database: {reason}. Nothing was changed. {WITHOUT}")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"

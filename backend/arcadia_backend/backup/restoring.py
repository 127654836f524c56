"""`arcadia restore DIR`: restore a backup into an unused installation, on SQLite or PostgreSQL."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, func, select

from arcadia_backend.backup.manifest import (
    DATABASE,
    FILES,
    Content,
    Manifest,
    copy_rows,
    paths,
    read_manifest,
    refuse_tampered,
    verify,
)
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.migrations import migrate
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.database.tables import MAIN_ID, Base, Installation, Person, Project, Run
from arcadia_backend.files.storage import stored_files, write_mark
from arcadia_backend.refusals import RefusedError
from arcadia_backend.startup.checks import database_refusals, make_ready
from arcadia_backend.startup.up import lock
from arcadia_workers.contract.layout import path_inside

# Of the projects, only Main may be there, and of the people only the owner.
TABLES_OF_UNUSED = ("installation", "workers", "sign_in_sessions", "audit_log", "projects", "people")


def restore(settings: Settings, source: Path) -> str:
    """Restore a backup, and return a summary. Raise RefusedError if any file is damaged."""
    manifest = read_manifest(source)
    if not manifest.database.is_sound(source):
        raise RefusedError(f"The database in {source} is damaged, so nothing was restored. Use another backup.")
    refuse_tampered(source, manifest)
    locked = lock(settings.data_dir)
    try:
        make_ready(settings)
        database = open_database(settings)
        try:
            with acting_as(BACKEND), database_refusals(settings):
                return _restore(settings, database, source, manifest)
        finally:
            database.close()
    except OSError as error:
        raise RefusedError(f"Nothing was restored: {error.strerror} ({error.filename}).") from None
    finally:
        os.close(locked)


def _restore(settings: Settings, database: Database, source: Path, manifest: Manifest) -> str:
    _refuse_used_installation(database)
    sound, damaged = verify(source / FILES, manifest.files)
    with _copied(sound, source / FILES, settings.files_dir), _opened(settings, source) as backup:
        with database.write() as session:
            connection = session.connection()
            copy_rows(backup, connection)
            identity = session.scalar(select(Installation.identity))
            if identity is not None:
                write_mark(settings.files_dir, identity)
        runs = backup.scalar(select(func.count()).select_from(Run)) or 0
    summary = f"{runs:,} runs and {len(sound):,} files of {manifest.made_at:%Y-%m-%d %H:%M} UTC were restored."
    if damaged:
        raise RefusedError(f"{summary} Missing or damaged in the backup, and not restored: {paths(damaged)}.")
    return summary


def _refuse_used_installation(database: Database) -> None:
    with database.read() as session:
        rows = {
            table.name: count
            for table in Base.metadata.sorted_tables
            if table.name not in TABLES_OF_UNUSED and (count := session.scalar(select(func.count()).select_from(table)))
        }
        projects = select(func.count()).select_from(Project).where(Project.id != MAIN_ID)
        people = select(func.count()).select_from(Person).where(Person.is_owner.is_(False))
        for name, query in (("projects", projects), ("people", people)):
            if count := session.scalar(query):
                rows[name] = count
    files = len(stored_files(database.files_dir))
    if rows or files:
        # If there are runs, do not list the rows that belong to them.
        counts = rows if rows and "runs" not in rows else {"runs": rows.get("runs", 0)}
        listed = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
        raise RefusedError(
            f"The database already has {listed}, and {database.files_dir} has {files:,} files. "
            "Restore into an empty database and a new data folder: arcadia restore DIR --data NEW."
        )


@contextmanager
def _copied(contents: Sequence[Content], source: Path, target: Path) -> Iterator[None]:
    """Copy files without links. Remove the copies if the block fails."""
    done: list[Path] = []
    try:
        for each in contents:
            done.append(path_inside(target, each.path))
            done[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path_inside(source, each.path), done[-1])
        os.sync()
        yield
    except BaseException:
        for path in done:
            path.unlink(missing_ok=True)
        raise


@contextmanager
def _opened(settings: Settings, source: Path) -> Iterator[Connection]:
    """Open a migrated copy of the backup's database. The backup itself is not changed."""
    with tempfile.TemporaryDirectory(prefix="restore-", dir=settings.data_dir) as folder:
        shutil.copyfile(source / DATABASE, Path(folder) / DATABASE)
        url = f"sqlite:///{Path(folder).resolve() / DATABASE}"
        migrate(settings.model_copy(update={"database_url": url}))
        copy = Database(url, Path(folder))
        try:
            with copy.snapshot() as connection:
                yield connection
        finally:
            copy.close()

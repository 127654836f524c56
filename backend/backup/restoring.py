"""`arcadia restore DIR`: a backup into an installation that nobody has used yet, on either kind of database."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, func, select

from backend.backup.manifest import DATABASE, FILES, Content, Manifest, paths, read_manifest, verify
from backend.backup.rows import clear_rows, copy_rows
from backend.backup.tampering import refuse_tampered
from backend.config import Settings
from backend.database.engine import Database, open_database
from backend.database.migrations import migrate
from backend.database.tables import Base, Installation, Run
from backend.files.ownership import write_mark
from backend.files.storage import stored_files
from backend.refusals import RefusedError
from backend.startup.checks import database_refusals, make_ready
from backend.startup.embedded.data_folder import lock
from workers.contract.paths import path_inside

MADE_BY_EVERY_START = ("installation", "workers", "signed_in")


def restore(settings: Settings, source: Path) -> str:
    """Put a backup back, and say what it was; refuse at the end if not all of it was sound."""
    manifest = read_manifest(source)
    if not manifest.database.is_sound(source):
        raise RefusedError(f"The database in {source} is damaged, so nothing was restored. Take another backup.")
    refuse_tampered(source, manifest)
    locked = lock(settings.data_dir)
    try:
        make_ready(settings)
        database = open_database(settings)
        try:
            with database_refusals(settings):
                return _restore(settings, database, source, manifest)
        finally:
            database.close()
    except OSError as error:
        raise RefusedError(f"Nothing was restored: {error.strerror} ({error.filename}).") from None
    finally:
        os.close(locked)


def _restore(settings: Settings, database: Database, source: Path, manifest: Manifest) -> str:
    _refuse_what_is_in_use(database)
    sound, broken = verify(source / FILES, manifest.files)
    with _copied(sound, source / FILES, settings.files_dir), _opened(settings, source) as backup:
        with database.write() as session:
            connection = session.connection()
            clear_rows(connection)
            copy_rows(backup, connection)
            identity = session.scalar(select(Installation.identity))
            if identity is not None:
                write_mark(settings.files_dir, identity)
        runs = backup.scalar(select(func.count()).select_from(Run)) or 0
    said = f"{runs:,} runs and {len(sound):,} files of {manifest.made_at:%Y-%m-%d %H:%M} UTC are restored."
    if broken:
        raise RefusedError(f"{said} Not among them, since missing or damaged in the backup: {paths(broken)}.")
    return said


def _refuse_what_is_in_use(database: Database) -> None:
    with database.read() as session:
        rows = {
            table.name: count
            for table in Base.metadata.sorted_tables
            if table.name not in MADE_BY_EVERY_START
            and (count := session.scalar(select(func.count()).select_from(table)))
        }
    files = len(stored_files(database.files_dir))
    if rows or files:
        # Where there are runs, what belongs to them goes without saying.
        told = rows if rows and "runs" not in rows else {"runs": rows.get("runs", 0)}
        listed = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in told.items())
        raise RefusedError(
            f"There are {listed} in the database and {files:,} files in {database.files_dir} already. "
            "Restore into an empty database and a new data folder: arcadia restore DIR --data NEW."
        )


@contextmanager
def _copied(contents: Sequence[Content], source: Path, target: Path) -> Iterator[None]:
    """Copy files, so that neither place depends on the other's; take them away again if the block fails."""
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
    """Open a copy of the backup's database, brought to this version; the backup itself stays as it is."""
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

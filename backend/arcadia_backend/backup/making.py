"""`arcadia backup DIR`, also while the backend runs.

Files are not removed while the backup reads the database and copies its files.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError
from sqlalchemy import Row, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from arcadia_backend.backup.manifest import DATABASE, FILES, Content, Manifest, copy_rows, hash_of, paths, verify
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.migrations import is_current, migrate
from arcadia_backend.database.tables import File, Run
from arcadia_backend.files.storage import hold, link_or_copy
from arcadia_backend.refusals import RefusedError
from arcadia_backend.startup.checks import database_refusals, make_private_folder
from arcadia_workers.contract.layout import OutsideFolderError, path_inside


def back_up(settings: Settings, target: Path) -> str:
    """Write a backup into a new folder, and return a summary. Raise RefusedError if any file is damaged."""
    try:
        with database_refusals(settings):
            url = make_url(settings.resolved_database_url)
            if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).is_file():
                raise RefusedError(f"There is nothing to back up: {url.database} does not exist.")
            # Do this before creating the target, so that a refused backup leaves no folder behind.
            with hold(settings.files_dir):
                make_private_folder(target)
                if any(target.iterdir()):
                    raise RefusedError(f"{target} is not empty. Use a new folder for the backup.")
                with _source(settings, target) as database:
                    runs, contents = _copy(database, settings, target)
        return _finish(target, contents, runs)
    except OSError as error:
        raise RefusedError(f"The backup in {target} is incomplete: {error.strerror} ({error.filename}).") from None


@contextmanager
def _source(settings: Settings, target: Path) -> Iterator[Database]:
    """Open the database for reading, or a copy of it below `target` if the database's disk is full.

    SQLite needs space next to a database to open it. Without that space nothing can change the database either.
    """
    with TemporaryDirectory(prefix=".source-", dir=target) as folder, ExitStack() as stack:
        database = Database(settings.resolved_database_url, settings.files_dir)
        stack.callback(database.close)
        if database.is_sqlite:
            try:
                with database.snapshot() as connection:
                    is_current(connection)
            except OperationalError as error:
                if "locked" in str(error.orig):
                    raise
                copied = _copy_sqlite(Path(str(database.url.database)), Path(folder))
                database = Database(f"sqlite:///{copied}", settings.files_dir)
                stack.callback(database.close)
        yield database


def _copy_sqlite(source: Path, folder: Path) -> Path:
    """Copy a SQLite database with its write-ahead log, and return the path of the copy."""
    for name in (source.name, f"{source.name}-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(source.with_name(name), folder / name)
    return folder.resolve() / source.name


def _copy(database: Database, settings: Settings, target: Path) -> tuple[int, list[Content]]:
    """Copy the database and its files. The files are not verified yet."""
    with database.snapshot() as source:
        if not is_current(source):
            raise RefusedError("The database has an older schema. Run arcadia migrate first.")
        url = f"sqlite:///{target.resolve() / DATABASE}"
        migrate(settings.model_copy(update={"data_dir": target, "database_url": url}))
        copy = Database(url, target / FILES)
        try:
            with copy.write() as session:
                copy_rows(source, session.connection())
            copy.merge_wal()
        finally:
            copy.close()
        runs = source.scalar(select(func.count()).select_from(Run)) or 0
        contents = [
            _content(row)
            for row in source.execute(
                select(File.id, File.run_id, File.stored_path, File.sha256, File.bytes).order_by(File.id)
            )
        ]
        for each in contents:
            try:
                link_or_copy(path_inside(settings.files_dir, each.path), path_inside(target / FILES, each.path))
            except (FileNotFoundError, OutsideFolderError):
                continue  # The verification reports it as missing.
    return runs, contents


def _content(row: Row[int, int | None, str, str, int]) -> Content:
    try:
        return Content(path=row.stored_path, sha256=row.sha256, bytes=row.bytes)
    except ValidationError:
        owner = "" if row.run_id is None else f" of run {row.run_id}"
        raise RefusedError(
            f"The database was changed by hand: file {row.id}{owner} is stored at {row.stored_path!r}, which is not a "
            "path in the data folder. Delete the run, then back up again."
        ) from None


def _finish(target: Path, contents: Sequence[Content], runs: int) -> str:
    sound, damaged = verify(target / FILES, contents)
    for each in damaged:
        (target / FILES / each.path).unlink(missing_ok=True)
    # Write everything to disk before the manifest.
    os.sync()
    database = target / DATABASE
    content = Content(path=DATABASE, sha256=hash_of(database), bytes=database.stat().st_size)
    Manifest(arcadia=version("arcadia"), made_at=utc_now(), database=content, files=sound).write(target)
    summary = f"{runs:,} runs and {len(sound):,} files, each verified, are in {target}."
    if damaged:
        raise RefusedError(f"{summary} Missing or damaged in the data folder, and not included: {paths(damaged)}.")
    return summary

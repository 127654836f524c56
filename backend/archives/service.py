"""Export and import of archives."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.format import FilesChoice
from backend.archives.opening import open_archive
from backend.archives.reading import import_opened
from backend.archives.run_writing import spool_run
from backend.archives.schemas import ImportResult
from backend.archives.writing import Export, new_spool
from backend.database.engine import Database
from backend.database.tables import Installation
from backend.web.lookup import find_run


def export_runs(database: Database, run_ids: Sequence[int], files: FilesChoice) -> Export:
    """Copy the rows and points of some runs for an archive. Raise NotFound if one of them does not exist."""
    spool = new_spool(database.files_dir)
    with database.snapshot() as connection, Session(bind=connection, autoflush=False) as session:
        identity = session.scalars(select(Installation.identity)).one()
        runs = [find_run(session, run_id) for run_id in run_ids]
        spooled = [spool_run(session, spool, run, number, files) for number, run in enumerate(runs, 1)]
    return Export(identity, files, spool, spooled)


def import_archive(database: Database, path: Path, *, max_file_bytes: int, tags: Sequence[str] = ()) -> ImportResult:
    """Import an archive file, with additional tags for its runs. Raise BadArchive if it must not be imported."""
    with open_archive(path, max_file_bytes) as archive:
        return import_opened(database, archive, tags)

"""Export and import of archives."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.format import FilesChoice
from backend.archives.item_writing import spool_report, spool_study
from backend.archives.opening import open_archive
from backend.archives.reading import import_opened
from backend.archives.run_writing import spool_run
from backend.archives.schemas import ImportResult
from backend.archives.selecting import Wanted, select_items
from backend.archives.writing import Export, new_spool
from backend.database.engine import Database
from backend.database.tables import Installation


def export(database: Database, wanted: Wanted, files: FilesChoice) -> Export:
    """Copy the rows and points of runs, studies and reports for an archive. Raise NotFound if one does not exist."""
    spool = new_spool(database.files_dir)
    with database.snapshot() as connection, Session(bind=connection, autoflush=False) as session:
        identity = session.scalars(select(Installation.identity)).one()
        selected = select_items(session, wanted)
        runs = [spool_run(session, spool, run, number, files) for number, run in enumerate(selected.runs, 1)]
        studies = [spool_study(session, spool, study, number) for number, study in enumerate(selected.studies, 1)]
        reports = [spool_report(session, spool, report, number) for number, report in enumerate(selected.reports, 1)]
    return Export(identity, files, spool, runs, studies, reports)


def import_archive(
    database: Database,
    path: Path,
    *,
    max_file_bytes: int,
    tags: Sequence[str] = (),
    project: str | None = None,
    all_or_nothing: bool = True,
) -> ImportResult:
    """Import an archive file, with additional tags for its runs. Raise BadArchive if it must not be imported.

    Everything goes to the projects that the archive names, unless one is given. Missing projects are created.
    """
    with open_archive(path, max_file_bytes) as archive:
        return import_opened(database, archive, tags, project, all_or_nothing=all_or_nothing)

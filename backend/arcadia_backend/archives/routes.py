"""Routes of archive files: export of runs, studies and reports, and import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.archives.format import MAX_RUNS, SUFFIX, FilesChoice, ImportResult, open_archive
from arcadia_backend.archives.reading import import_opened
from arcadia_backend.archives.writing import (
    Export,
    Wanted,
    new_spool,
    select_items,
    spool_report,
    spool_run,
    spool_study,
    stream,
)
from arcadia_backend.comparisons.routes import parse_ids
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.tables import Installation
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.files import storage
from arcadia_backend.files.service import BODY
from arcadia_backend.projects.schemas import ProjectName
from arcadia_backend.web.middleware import write_slot


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


def store_archive(
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


router = APIRouter(tags=["archives"])

IMPORT_WRITE_TIMEOUT_SECONDS = 20.0

Ids = Annotated[
    str | None, Query(description="Ids and ranges, separated by commas, such as 1,2,7-12.", max_length=10_000)
]
Files = Annotated[
    FilesChoice,
    Query(
        description="Files to include: all, none, or best, which leaves out the checkpoints of each run except the "
        "best and the newest."
    ),
]


ImportProject = Annotated[
    ProjectName | None,
    Query(
        description="Project of everything that is imported. It is created if there is none with this name. "
        "Default: the projects that the archive names, or Main."
    ),
]


@router.get("/archives", response_class=Response)
def export_archive(
    db: Db, runs: Ids = None, studies: Ids = None, reports: Ids = None, files: Files = "all"
) -> Response:
    """Download runs, studies and reports with all their data as one archive file.

    A study brings its runs. A report brings the runs and studies that it shows. A fork refers to its parent if that is
    included.
    """
    wanted = _parse_wanted(runs, studies, reports)
    exported = export(db, wanted, files)
    headers = {
        "Content-Disposition": f'attachment; filename="{_name(wanted)}{SUFFIX}"',
        # The length of the response is not known before its end. Clients show progress with this.
        "Arcadia-Unpacked-Bytes": str(exported.unpacked_bytes),
    }
    return StreamingResponse(stream(exported, db.files_dir), headers=headers, media_type="application/octet-stream")


@router.post("/archives", status_code=201, openapi_extra=BODY)
async def import_archive(
    request: Request, db: Db, settings: CurrentSettings, project: ImportProject = None
) -> ImportResult:
    """Import an archive file. What is already here is not imported again, and stays in its project."""
    limit, root = settings.max_archive_bytes, settings.files_dir
    received, _size = await storage.receive(request.stream(), root, limit, None)
    try:
        async with write_slot(request.app, IMPORT_WRITE_TIMEOUT_SECONDS):
            most = settings.max_file_bytes
            return await run_in_threadpool(store_archive, db, received, max_file_bytes=most, project=project)
    finally:
        received.unlink(missing_ok=True)


def _parse_wanted(runs: str | None, studies: str | None, reports: str | None) -> Wanted:
    if runs is None and studies is None and reports is None:
        message = "name what to export, for example runs=1,2,3, studies=1 or reports=1"
        raise Invalid(FieldError(field="runs", message=message))
    return Wanted(
        [] if runs is None else parse_ids(runs, "runs", MAX_RUNS),
        [] if studies is None else parse_ids(studies, "studies"),
        [] if reports is None else parse_ids(reports, "reports"),
    )


def _name(wanted: Wanted) -> str:
    """Return the name of an archive file without its suffix."""
    named = [("run", wanted.runs), ("study", wanted.studies), ("report", wanted.reports)]
    (kind, ids), *others = [(kind, ids) for kind, ids in named if ids]
    if others:
        return "archive"
    return f"{kind}-{ids[0]}" if len(ids) == 1 else f"{len(ids)}-{'studies' if kind == 'study' else f'{kind}s'}"

"""Routes of archive files: export of runs, and import."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from backend.archives import service
from backend.archives.format import SUFFIX, FilesChoice
from backend.archives.schemas import ImportResult
from backend.archives.writing import stream
from backend.comparisons.selection import RunIds, parse_run_ids
from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.files import storage
from backend.files.receiving import BODY
from backend.web.write_slots import write_slot

router = APIRouter(tags=["archives"])

IMPORT_WRITE_TIMEOUT_SECONDS = 20.0

Files = Annotated[
    FilesChoice,
    Query(
        description="Files to include: all, none, or best, which leaves out the checkpoints of each run except the "
        "best and the newest."
    ),
]


@router.get("/archives", response_class=Response)
def export_archive(db: Db, runs: RunIds, files: Files = "all") -> Response:
    """Download runs with all their data as one archive file. A fork refers to its parent if that is included."""
    run_ids = parse_run_ids(runs)
    name = f"run-{run_ids[0]}" if len(run_ids) == 1 else f"{len(run_ids)}-runs"
    export = service.export_runs(db, run_ids, files)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}{SUFFIX}"',
        # The length of the response is not known before its end. Clients show progress with this.
        "Arcadia-Unpacked-Bytes": str(export.unpacked_bytes),
    }
    return StreamingResponse(stream(export, db.files_dir), headers=headers, media_type="application/octet-stream")


@router.post("/archives", status_code=201, openapi_extra=BODY)
async def import_archive(request: Request, db: Db, settings: CurrentSettings) -> ImportResult:
    """Import an archive file. Runs that are already here are not imported again."""
    limit, root = settings.max_archive_bytes, settings.files_dir
    received, _size = await storage.receive(request.stream(), root, limit, None)
    try:
        async with write_slot(request.app, IMPORT_WRITE_TIMEOUT_SECONDS):
            return await run_in_threadpool(service.import_archive, db, received, max_file_bytes=settings.max_file_bytes)
    finally:
        received.unlink(missing_ok=True)

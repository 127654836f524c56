"""/worker/runs/…/files: workers upload what a trainer made, and download what it goes on from."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from backend.config import CurrentSettings
from backend.db import Database, Db
from backend.errors import NotFound
from backend.files import service, storage
from backend.files.download import download
from backend.lookup import FileId, RunId
from backend.turns import turn
from backend.workers.attempts import current_run
from workers.contract.events import Sha256
from workers.contract.worker_api import AttemptNumber, FileKind, RunPath, UploadedFile

router = APIRouter(tags=["files"])

# A received file is not thrown away for a short wait; workers wait for thirty seconds.
UPLOAD_PATIENCE_SECONDS = 20.0

Attempt = Annotated[AttemptNumber, Query()]


@router.put(
    "/worker/runs/{run_id}/files",
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": {}}}},
)
async def upload_file(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    run_id: RunId,
    attempt: Attempt,
    kind: FileKind,
    path: RunPath,
    sha256: Sha256,
) -> UploadedFile:
    """Take a file of an attempt; the same upload again changes nothing."""
    known = await run_in_threadpool(_already_uploaded, db, run_id, attempt, path, sha256)
    if known is not None:
        # Read to the end, so that the worker is not cut off while it sends.
        async for _part in request.stream():
            pass
        return UploadedFile(file_id=known)
    received, size = await storage.receive(request.stream(), settings.files_dir, settings.max_file_bytes, sha256)

    def keep() -> int:
        with db.write() as session:
            current_run(session, run_id, attempt, lock=True)
            if (twin := service.uploaded(session, run_id, attempt, path, sha256)) is not None:
                return twin.id
            file = service.keep(
                session, received, run_id=run_id, attempt=attempt, kind=kind, path=path, sha256=sha256, size=size
            )
            return file.id

    try:
        async with turn(request.app, UPLOAD_PATIENCE_SECONDS):
            return UploadedFile(file_id=await run_in_threadpool(keep))
    finally:
        received.unlink(missing_ok=True)


def _already_uploaded(db: Database, run_id: RunId, attempt: int, path: str, sha256: str) -> int | None:
    with db.read() as session:
        current_run(session, run_id, attempt)
        file = service.uploaded(session, run_id, attempt, path, sha256)
        return file.id if file else None


@router.get("/worker/runs/{run_id}/files/{file_id}", response_class=Response)
def fetch_file(
    request: Request, db: Db, settings: CurrentSettings, run_id: RunId, file_id: FileId, attempt: Attempt
) -> Response:
    """A file of the worker's run."""
    with db.read() as session:
        current_run(session, run_id, attempt)
        file = service.find_file(session, file_id)
        if file.run_id != run_id:
            raise NotFound(f"Run {run_id} has no file {file_id}.")
    return download(request, file, settings.files_dir)

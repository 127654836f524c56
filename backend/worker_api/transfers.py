"""Routes by which workers upload and download the files of runs and jobs."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.orm import Session

from backend.config import CurrentSettings, Settings
from backend.database.engine import Database, Db
from backend.errors import NotFound
from backend.evaluations.start_points import start_set_of_job
from backend.files import service, storage
from backend.files.download import download
from backend.web.lookup import PathId
from backend.web.write_slots import write_slot
from backend.worker_api.jobs import current_job
from backend.worker_api.runs import current_run
from workers.contract.events import Sha256
from workers.contract.worker_api import AttemptNumber, FileKind, RunPath, UploadedFile

router = APIRouter(tags=["files"])

# Workers wait 30 seconds for an answer. Use most of it before the uploaded file is discarded.
UPLOAD_WRITE_TIMEOUT_SECONDS = 20.0

Attempt = Annotated[AttemptNumber, Query()]


_BINARY = {"schema": {"type": "string", "format": "binary"}}
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}}

# Finds the attempt that makes a file, and locks its run or job if the second argument is True.
FindMaker = Callable[[Session, bool], service.Maker]


@router.put("/worker/runs/{run_id}/files", openapi_extra=BODY)
async def upload_file(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    run_id: PathId,
    attempt: Attempt,
    kind: FileKind,
    path: RunPath,
    sha256: Sha256,
) -> UploadedFile:
    """Upload a file of a run. A repeated upload changes nothing."""
    return await _receive(request, db, settings, _of_run(run_id, attempt), kind, path, sha256)


@router.put("/worker/jobs/{job_id}/files", openapi_extra=BODY)
async def upload_job_file(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    job_id: PathId,
    attempt: Attempt,
    kind: FileKind,
    path: RunPath,
    sha256: Sha256,
) -> UploadedFile:
    """Upload a file of a job. A repeated upload changes nothing."""
    return await _receive(request, db, settings, _of_job(job_id, attempt), kind, path, sha256)


@router.get("/worker/runs/{run_id}/files/{file_id}", response_class=Response)
def fetch_file(
    request: Request, db: Db, settings: CurrentSettings, run_id: PathId, file_id: PathId, attempt: Attempt
) -> Response:
    """Download a file of the worker's run."""
    return _send(request, db, settings, _of_run(run_id, attempt), file_id)


@router.get("/worker/jobs/{job_id}/files/{file_id}", response_class=Response)
def fetch_job_file(
    request: Request, db: Db, settings: CurrentSettings, job_id: PathId, file_id: PathId, attempt: Attempt
) -> Response:
    """Download a file of the run of the worker's job."""
    return _send(request, db, settings, _of_job(job_id, attempt), file_id)


@router.get("/worker/jobs/{job_id}/starts", response_class=Response)
def fetch_job_starts(db: Db, job_id: PathId, attempt: Attempt) -> Response:
    """Download the start points of the worker's job."""
    with db.read() as session:
        stored = start_set_of_job(session, current_job(session, job_id, attempt))
    return Response(stored.content, media_type="application/json", headers={"ETag": f'"{stored.sha256}"'})


def _of_run(run_id: int, attempt: int) -> FindMaker:
    return lambda session, lock: service.Maker(current_run(session, run_id, attempt, lock=lock).id, attempt)


def _of_job(job_id: int, attempt: int) -> FindMaker:
    def find(session: Session, lock: bool) -> service.Maker:
        job = current_job(session, job_id, attempt, lock=lock)
        return service.Maker(job.run_id, attempt, job.id)

    return find


async def _receive(
    request: Request, db: Database, settings: Settings, find: FindMaker, kind: FileKind, path: str, sha256: str
) -> UploadedFile:
    uploaded_id = await run_in_threadpool(_find_upload, db, find, path, sha256)
    if uploaded_id is not None:
        # Read the whole body, so that the worker's connection is not reset while it sends.
        async for _part in request.stream():
            pass
        return UploadedFile(file_id=uploaded_id)
    received, size = await storage.receive(request.stream(), settings.files_dir, settings.max_file_bytes, sha256)

    def keep() -> int:
        with db.write() as session:
            made_by = find(session, True)
            twin = service.find_upload(session, made_by, path, sha256)
            return (twin or service.store(session, received, made_by, kind, path, sha256, size)).id

    try:
        async with write_slot(request.app, UPLOAD_WRITE_TIMEOUT_SECONDS):
            return UploadedFile(file_id=await run_in_threadpool(keep))
    finally:
        received.unlink(missing_ok=True)


def _find_upload(db: Database, find: FindMaker, path: str, sha256: str) -> int | None:
    with db.read() as session:
        file = service.find_upload(session, find(session, False), path, sha256)
        return file.id if file else None


def _send(request: Request, db: Database, settings: Settings, find: FindMaker, file_id: int) -> Response:
    with db.read() as session:
        run_id = find(session, False).run_id
        file = service.find_file(session, file_id)
        if run_id is None or file.run_id != run_id:
            raise NotFound(f"{'No run' if run_id is None else f'Run {run_id}'} has no file {file_id}.")
    return download(request, file, settings.files_dir)

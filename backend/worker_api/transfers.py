"""Routes by which workers upload and download the files of runs and jobs."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy.orm import Session

from backend.config import CurrentSettings, Settings
from backend.database.engine import Database, Db
from backend.errors import NotFound
from backend.evaluations.start_points import start_set_of_job
from backend.files import service
from backend.files.download import download
from backend.files.receiving import BODY, FindMaker, Upload, receive_upload
from backend.web.lookup import PathId
from backend.worker_api.jobs import current_job
from backend.worker_api.runs import current_run
from workers.contract.events import Sha256
from workers.contract.worker_api import AttemptNumber, FileKind, RunPath, UploadedFile

router = APIRouter(tags=["files"])

Attempt = Annotated[AttemptNumber, Query()]


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
    upload = Upload(find, lambda session, made_by: service.find_upload(session, made_by, path, sha256), kind, sha256)
    return UploadedFile(file_id=await receive_upload(request, db, settings, upload, lambda _received: path))


def _send(request: Request, db: Database, settings: Settings, find: FindMaker, file_id: int) -> Response:
    with db.read() as session:
        run_id = find(session, False).run_id
        file = service.find_file(session, file_id)
        if run_id is None or file.run_id != run_id:
            raise NotFound(f"{'No run' if run_id is None else f'Run {run_id}'} has no file {file_id}.")
    return download(request, file, settings.files_dir)

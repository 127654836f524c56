"""Files: uploaded and fetched by workers, shown to users."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from backend import models
from backend.config import Settings
from backend.db import Database, Db
from backend.errors import NotFound
from backend.files import schemas, service, storage
from backend.files.download import download
from backend.ids import FileId, RunId
from backend.models import FileKind
from backend.runs.service import find_run
from backend.workers.attempts import current_run

router = APIRouter(tags=["files"])

Attempt = Annotated[int, Query(ge=1)]
# Relative, and no part of it begins with a dot: it names a file in a worker's run directory.
RunPath = Annotated[
    str, Query(max_length=255, pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$")
]
Sha256 = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]


@router.put(
    "/worker/runs/{run_id}/files",
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": {}}}},
)
async def upload_file(
    request: Request, db: Db, run_id: RunId, attempt: Attempt, kind: FileKind, path: RunPath, sha256: Sha256
) -> schemas.UploadedFile:
    """Take a file of an attempt; the same upload again changes nothing."""
    settings: Settings = request.app.state.settings
    known = await run_in_threadpool(_already_uploaded, db, run_id, attempt, path, sha256)
    if known is not None:
        # Read to the end, so that the worker is not cut off while it sends.
        async for _part in request.stream():
            pass
        return schemas.UploadedFile(file_id=known)
    received, size = await storage.receive(request.stream(), settings.files_dir, settings.max_file_bytes, sha256)

    def keep() -> int:
        try:
            with db.write() as session:
                current_run(session, run_id, attempt, lock=True)
                if (twin := service.uploaded(session, run_id, attempt, path, sha256)) is not None:
                    return twin.id
                file = service.keep(
                    session, received, run_id=run_id, attempt=attempt, kind=kind, path=path, sha256=sha256, size=size
                )
                return file.id
        finally:
            received.unlink(missing_ok=True)

    return schemas.UploadedFile(file_id=await run_in_threadpool(keep))


def _already_uploaded(db: Database, run_id: RunId, attempt: int, path: str, sha256: str) -> int | None:
    with db.read() as session:
        current_run(session, run_id, attempt)
        file = service.uploaded(session, run_id, attempt, path, sha256)
        return file.id if file else None


@router.get("/worker/runs/{run_id}/files/{file_id}", response_class=Response)
def fetch_file(request: Request, db: Db, run_id: RunId, file_id: FileId, attempt: Attempt) -> Response:
    """A file of the run that the worker has in hand."""
    with db.read() as session:
        current_run(session, run_id, attempt)
        file = service.find_file(session, file_id)
        if file.run_id != run_id:
            raise NotFound(f"Run {run_id} has no file {file_id}.")
    return download(request, file, _root(request))


@router.head("/files/{file_id}", response_class=Response, include_in_schema=False)
@router.get("/files/{file_id}", response_class=Response)
def read_file(request: Request, db: Db, file_id: FileId) -> Response:
    """A replay, its poster or a checkpoint; byte ranges are served."""
    with db.read() as session:
        file = service.find_file(session, file_id)
    return download(request, file, _root(request))


def _root(request: Request) -> Path:
    settings: Settings = request.app.state.settings
    return settings.files_dir


@router.get("/runs/{run_id}/checkpoints")
def list_checkpoints(db: Db, run_id: RunId) -> list[schemas.Checkpoint]:
    """Saved training states by step, also those thinned out."""
    with db.read() as session:
        find_run(session, run_id)
        return [_checkpoint(row) for row in service.checkpoints(session, run_id)]


def _checkpoint(row: models.Checkpoint) -> schemas.Checkpoint:
    return schemas.Checkpoint(
        id=row.id,
        step=row.step,
        frames=row.frames,
        attempt=row.attempt,
        file_id=row.file_id,
        bytes=row.bytes,
        return_mean=row.return_mean,
        best=row.best,
        created_at=row.created_at,
        available=row.file_id is not None,
    )


@router.get("/runs/{run_id}/videos")
def list_videos(db: Db, run_id: RunId) -> list[schemas.Video]:
    """Replays by the step of the checkpoint that played them."""
    with db.read() as session:
        find_run(session, run_id)
        return [schemas.Video.model_validate(row, from_attributes=True) for row in service.videos(session, run_id)]


@router.get("/runs/{run_id}/evaluations")
def list_evaluations(db: Db, run_id: RunId) -> list[schemas.Evaluation]:
    """Returns of episodes played apart from training."""
    with db.read() as session:
        find_run(session, run_id)
        rows = service.evaluations(session, run_id)
        return [schemas.Evaluation.model_validate(row, from_attributes=True) for row in rows]

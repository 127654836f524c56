"""Routes of /workers for users, and of /worker/… for workers: heartbeat, claim, events, release and goodbye."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from sqlalchemy.orm import Session

from arcadia_backend import workers
from arcadia_backend.accounts.tokens import end_attempt_tokens, new_attempt_token
from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Checkpoint
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import NotFound
from arcadia_backend.files import service
from arcadia_backend.files.pieces import Piece, read_progress, receive_piece
from arcadia_backend.files.routes import download
from arcadia_backend.files.service import BODY, FindMaker, Upload, receive_upload
from arcadia_backend.job_kinds.evaluations.service import start_set_of_job
from arcadia_backend.live.bells import Waits
from arcadia_backend.web.lookup import PathId
from arcadia_backend.worker_api import ingest, jobs, registry, runs
from arcadia_backend.worker_api.attempts import StaleAttempt
from arcadia_backend.worker_api.jobs import JOBS
from arcadia_backend.worker_api.runs import RUNS
from arcadia_backend.worker_api.sweeper import ring_worker
from arcadia_workers.contract import worker_api
from arcadia_workers.contract.events import FileKind, Sha256
from arcadia_workers.contract.worker_api import (
    JOBS_QUEUE,
    AttemptNumber,
    RunPath,
    UploadedFile,
    UploadProgress,
    WorkerName,
    private_queue,
)

transfer_router = APIRouter(tags=["files"])

Attempt = Annotated[AttemptNumber, Query()]
WorkerPath = Annotated[WorkerName, Path()]
# The size of a file in the database. ARCADIA_MAX_FILE_BYTES limits files further.
MAX_SIZE = 2**53
Offset = Annotated[int, Query(ge=0, le=MAX_SIZE, description="Where the piece starts in the file.")]
Size = Annotated[int, Query(ge=1, le=MAX_SIZE, description="Bytes of the whole file.")]


def _of_run(run_id: PathId, attempt: Attempt) -> FindMaker:
    return lambda session, lock: service.Maker(RUNS.current(session, run_id, attempt, lock=lock).id, attempt)


def _of_job(job_id: PathId, attempt: Attempt) -> FindMaker:
    def find(session: Session, lock: bool) -> service.Maker:
        job = JOBS.current(session, job_id, attempt, lock=lock)
        return service.Maker(job.run_id, attempt, job.id)

    return find


def _player_of_job(job_id: PathId, attempt: Attempt) -> FindMaker:
    """Return a function that finds the run of the job's checkpoint, which may be another one than that of the job."""

    def find(session: Session, lock: bool) -> service.Maker:
        job = JOBS.current(session, job_id, attempt, lock=lock)
        checkpoint = session.get(Checkpoint, job.checkpoint_id) if job.checkpoint_id else None
        return service.Maker(checkpoint.run_id if checkpoint else job.run_id, attempt, job.id)

    return find


@dataclass(frozen=True)
class SentFile:
    """Description of a file that a worker sends."""

    kind: FileKind
    path: RunPath
    sha256: Sha256

    def upload(self, find: FindMaker) -> Upload:
        """Return the upload of the file for a run or a job."""
        return Upload(
            find,
            lambda session, made_by: service.find_upload(session, made_by, self.path, self.sha256),
            self.kind,
            self.sha256,
        )


OfRun = Annotated[FindMaker, Depends(_of_run)]
OfJob = Annotated[FindMaker, Depends(_of_job)]
Sent = Annotated[SentFile, Depends()]


@transfer_router.put("/worker/runs/{run_id}/files", openapi_extra=BODY)
async def upload_file(request: Request, db: Db, settings: CurrentSettings, run: OfRun, sent: Sent) -> UploadedFile:
    """Upload a file of a run. A repeated upload changes nothing."""
    return await _receive(request, db, settings, run, sent)


@transfer_router.put("/worker/jobs/{job_id}/files", openapi_extra=BODY)
async def upload_job_file(request: Request, db: Db, settings: CurrentSettings, job: OfJob, sent: Sent) -> UploadedFile:
    """Upload a file of a job. A repeated upload changes nothing."""
    return await _receive(request, db, settings, job, sent)


@transfer_router.get("/worker/runs/{run_id}/files")
def read_upload(db: Db, settings: CurrentSettings, run: OfRun, sent: Sent) -> UploadProgress:
    """Return how much of a file of a run was received in pieces."""
    return read_progress(db, settings, sent.upload(run), sent.path)


@transfer_router.get("/worker/jobs/{job_id}/files")
def read_job_upload(db: Db, settings: CurrentSettings, job: OfJob, sent: Sent) -> UploadProgress:
    """Return how much of a file of a job was received in pieces."""
    return read_progress(db, settings, sent.upload(job), sent.path)


@transfer_router.patch("/worker/runs/{run_id}/files", openapi_extra=BODY)
async def upload_piece(
    request: Request, db: Db, settings: CurrentSettings, run: OfRun, sent: Sent, offset: Offset, size: Size
) -> UploadProgress:
    """Append a piece to a file of a run. The last one stores the file."""
    return await receive_piece(request, db, settings, sent.upload(run), Piece(sent.path, offset, size))


@transfer_router.patch("/worker/jobs/{job_id}/files", openapi_extra=BODY)
async def upload_job_piece(
    request: Request, db: Db, settings: CurrentSettings, job: OfJob, sent: Sent, offset: Offset, size: Size
) -> UploadProgress:
    """Append a piece to a file of a job. The last one stores the file."""
    return await receive_piece(request, db, settings, sent.upload(job), Piece(sent.path, offset, size))


@transfer_router.get("/worker/runs/{run_id}/files/{file_id}", response_class=Response)
def fetch_file(request: Request, db: Db, settings: CurrentSettings, run: OfRun, file_id: PathId) -> Response:
    """Download a file of the worker's run."""
    return _send(request, db, settings, run, file_id)


@transfer_router.get("/worker/jobs/{job_id}/files/{file_id}", response_class=Response)
def fetch_job_file(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    player: Annotated[FindMaker, Depends(_player_of_job)],
    file_id: PathId,
) -> Response:
    """Download the checkpoint of the worker's job."""
    return _send(request, db, settings, player, file_id)


@transfer_router.get("/worker/jobs/{job_id}/starts", response_class=Response)
def fetch_job_starts(db: Db, job_id: PathId, attempt: Attempt) -> Response:
    """Download the start points of the worker's job."""
    with db.read() as session:
        stored = start_set_of_job(session, JOBS.current(session, job_id, attempt))
    return Response(stored.content, media_type="application/json", headers={"ETag": f'"{stored.sha256}"'})


async def _receive(request: Request, db: Database, settings: Settings, find: FindMaker, sent: SentFile) -> UploadedFile:
    file_id = await receive_upload(request, db, settings, sent.upload(find), lambda _received: sent.path)
    return UploadedFile(file_id=file_id)


def _send(request: Request, db: Database, settings: Settings, find: FindMaker, file_id: int) -> Response:
    with db.read() as session:
        run_id = find(session, False).run_id
        file = service.find_file(session, file_id)
        if run_id is None or file.run_id != run_id:
            raise NotFound(f"{'No run' if run_id is None else f'Run {run_id}'} has no file {file_id}.")
    return download(request, file, settings.files_dir)


router = APIRouter(tags=["workers"])


@router.get("/workers")
def list_workers(db: Db) -> list[workers.Worker]:
    """List the workers with their hosts and runs."""
    with db.read() as session:
        return registry.list_workers(session)


@router.patch("/workers/{name}")
def edit_worker(db: Db, bell: Bell, name: WorkerPath, changes: workers.WorkerEdit) -> workers.Worker:
    """Pause or drain a worker, or let it work again."""
    with db.write() as session:
        edited = registry.edit(session, name, changes)
        ring_worker(session, bell, name)
    return edited


@router.delete("/workers/{name}", status_code=204)
def remove_worker(db: Db, name: WorkerPath) -> Response:
    """Remove a worker that is gone from the list."""
    with db.write() as session:
        registry.remove(session, name)
    return Response(status_code=204)


@router.post("/worker/heartbeat")
def heartbeat(db: Db, settings: CurrentSettings, report: worker_api.Heartbeat) -> worker_api.HeartbeatAnswer:
    """Record a heartbeat. The answer has the desired state of each assignment of the worker."""
    registry.require_own_worker(report.name, report)
    with db.write() as session:
        answer = registry.beat(session, settings, report)
    if answer.stale is not None:
        raise answer.stale
    return worker_api.HeartbeatAnswer(
        desired=answer.desired,
        lease_seconds=settings.lease_seconds,
        jobs=answer.jobs,
        changes=answer.changes,
        drain=answer.drain,
    )


@router.get("/worker/bell")
async def wait_for_bell(
    request: Request,
    name: Annotated[WorkerName, Query()],
    queue: worker_api.QueueName,
    *,
    jobs: bool,
    seconds: Annotated[float, Query(ge=0, le=worker_api.MAX_BELL_SECONDS)] = worker_api.MAX_BELL_SECONDS,
) -> worker_api.Ring:
    """Wait until something is queued that a worker may take. A worker with a broker gets a message instead."""
    registry.require_own_worker(name)
    waits: Waits = request.app.state.waits
    runs_queue = () if current().job_worker is not None else (queue,)
    queues = {*runs_queue, private_queue(name), *([JOBS_QUEUE] if jobs else [])}
    look = await waits.wait(name, queues, seconds, request.is_disconnected)
    return worker_api.Ring(look=sorted(look))


@router.post("/worker/claim", response_model=worker_api.Claim, responses={204: {"description": "The queue is empty."}})
def claim(db: Db, settings: CurrentSettings, wanted: worker_api.ClaimRequest) -> worker_api.Claim | Response:
    """Claim the first waiting run of a queue."""
    with db.write() as session:
        claimed = runs.claim(session, settings, wanted.name, wanted.queue)
        if claimed is not None:
            claimed.token = new_attempt_token(session, claimed.attempt, run_id=claimed.run_id)
    return claimed if claimed is not None else Response(status_code=204)


@router.post("/worker/runs/{run_id}/claim")
def claim_run(
    db: Db,
    settings: CurrentSettings,
    run_id: PathId,
    wanted: worker_api.RunClaimRequest,
) -> worker_api.Claim:
    """Claim a run for the job of a scheduler. A later claim of the same job ends the attempt of the earlier one."""
    with db.write() as session:
        claimed = runs.claim_one(session, settings, run_id, wanted)
        if isinstance(claimed, worker_api.Claim):
            claimed.token = new_attempt_token(session, claimed.attempt, run_id=run_id)
    if isinstance(claimed, StaleAttempt):
        raise claimed
    return claimed


@router.post("/worker/runs/{run_id}/events")
def post_events(db: Db, run_id: PathId, batch: worker_api.EventBatch) -> worker_api.Acknowledged:
    """Store events of a run. A repeated batch changes nothing. A gap in the sequence is an error."""
    with db.write() as session:
        acknowledged = ingest.ingest(session, run_id, batch)
    return worker_api.Acknowledged(acknowledged=acknowledged)


@router.post("/worker/runs/{run_id}/release")
def release(db: Db, settings: CurrentSettings, run_id: PathId, ended: worker_api.Release) -> worker_api.Released:
    """Release a run with its outcome."""
    with db.write() as session:
        run = RUNS.release(session, settings, run_id, ended)
        end_attempt_tokens(session, ended.attempt, run_id=run_id)
        return worker_api.Released(state=run.state)


@router.post(
    "/worker/jobs/claim", response_model=worker_api.JobClaim, responses={204: {"description": "The queue is empty."}}
)
def claim_job(db: Db, settings: CurrentSettings, wanted: worker_api.JobClaimRequest) -> worker_api.JobClaim | Response:
    """Claim the first waiting job."""
    registry.require_own_worker(wanted.name)
    with db.write() as session:
        claimed = jobs.claim(session, settings, wanted.name)
        if claimed is not None:
            claimed.token = new_attempt_token(session, claimed.attempt, job_id=claimed.job_id)
    return claimed if claimed is not None else Response(status_code=204)


@router.post("/worker/jobs/{job_id}/events")
def post_job_events(db: Db, job_id: PathId, batch: worker_api.EventBatch) -> worker_api.Acknowledged:
    """Store events of a job. A repeated batch changes nothing. A gap in the sequence is an error."""
    with db.write() as session:
        acknowledged = jobs.ingest(session, job_id, batch)
    return worker_api.Acknowledged(acknowledged=acknowledged)


@router.post("/worker/jobs/{job_id}/release")
def release_job(db: Db, settings: CurrentSettings, job_id: PathId, ended: worker_api.Release) -> worker_api.Released:
    """Release a job with its outcome."""
    with db.write() as session:
        job = JOBS.release(session, settings, job_id, ended)
        end_attempt_tokens(session, ended.attempt, job_id=job_id)
        return worker_api.Released(state=job.state)


@router.post("/worker/goodbye", status_code=204)
def goodbye(db: Db, leaving: worker_api.Goodbye) -> Response:
    """Record that a worker leaves."""
    registry.require_own_worker(leaving.name)
    with db.write() as session:
        registry.leave(session, leaving.name)
    return Response(status_code=204)

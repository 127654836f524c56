"""Routes of /workers for users, and of /worker/… for workers: heartbeat, claim, events, release and goodbye."""

from fastapi import APIRouter, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.web.lookup import PathId
from backend.worker_api import ingest, jobs, registry, runs
from backend.workers import schemas
from workers.contract import worker_api

router = APIRouter(tags=["workers"])


@router.get("/workers")
def list_workers(db: Db) -> list[schemas.Worker]:
    """List the workers with their hosts and runs."""
    with db.read() as session:
        return registry.list_workers(session)


@router.post("/worker/heartbeat")
def heartbeat(db: Db, settings: CurrentSettings, report: worker_api.Heartbeat) -> worker_api.HeartbeatAnswer:
    """Record a heartbeat. The answer has the desired state of each assignment of the worker."""
    with db.write() as session:
        found = registry.beat(session, settings, report)
    if found.stale is not None:
        raise found.stale
    return worker_api.HeartbeatAnswer(
        desired=found.desired, lease_seconds=settings.lease_seconds, jobs=found.jobs, changes=found.changes
    )


@router.post("/worker/claim", response_model=worker_api.Claim, responses={204: {"description": "The queue is empty."}})
def claim(db: Db, settings: CurrentSettings, wanted: worker_api.ClaimRequest) -> worker_api.Claim | Response:
    """Claim the first waiting run of a queue."""
    with db.write() as session:
        claimed = runs.claim(session, settings, wanted.name, wanted.queue)
    return claimed if claimed is not None else Response(status_code=204)


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
        run = runs.release(session, settings, run_id, ended)
        return worker_api.Released(state=run.state)


@router.post(
    "/worker/jobs/claim", response_model=worker_api.JobClaim, responses={204: {"description": "The queue is empty."}}
)
def claim_job(db: Db, settings: CurrentSettings, wanted: worker_api.JobClaimRequest) -> worker_api.JobClaim | Response:
    """Claim the first waiting job."""
    with db.write() as session:
        claimed = jobs.claim(session, settings, wanted.name)
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
        return worker_api.Released(state=jobs.release(session, settings, job_id, ended).state)


@router.post("/worker/goodbye", status_code=204)
def goodbye(db: Db, leaving: worker_api.Goodbye) -> Response:
    """Record that a worker leaves."""
    with db.write() as session:
        registry.leave(session, leaving.name)
    return Response(status_code=204)

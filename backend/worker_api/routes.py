"""/workers for users, and /worker/… for workers: heartbeat, claim, events, release, goodbye; the same for errands."""

from fastapi import APIRouter, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.web.lookup import ErrandId, RunId
from backend.worker_api import attempts, errands, ingest, registry
from backend.workers import schemas
from workers.contract import worker_api

router = APIRouter(tags=["workers"])


@router.get("/workers")
def list_workers(db: Db) -> list[schemas.Worker]:
    """Workers, what they run on, and what they run."""
    with db.read() as session:
        return registry.listed(session)


@router.post("/worker/heartbeat")
def heartbeat(db: Db, settings: CurrentSettings, report: worker_api.Heartbeat) -> worker_api.HeartbeatAnswer:
    """Note that a worker lives, and answer with the users' wishes for what it holds."""
    with db.write() as session:
        found = registry.beat(session, settings, report)
    if found.stale is not None:
        raise found.stale
    return worker_api.HeartbeatAnswer(
        desired=found.desired, lease_seconds=settings.lease_seconds, errands=found.errands
    )


@router.post("/worker/claim", response_model=worker_api.Claim, responses={204: {"description": "Nothing waits."}})
def claim(db: Db, settings: CurrentSettings, wanted: worker_api.ClaimRequest) -> worker_api.Claim | Response:
    """Hand over the best waiting run of a queue."""
    with db.write() as session:
        claimed = attempts.claim(session, settings, wanted.name, wanted.queue)
    return claimed if claimed is not None else Response(status_code=204)


@router.post("/worker/runs/{run_id}/events")
def post_events(db: Db, run_id: RunId, batch: worker_api.EventBatch) -> worker_api.Acknowledged:
    """Store events; a repeated batch changes nothing, a gap is refused."""
    with db.write() as session:
        acknowledged = ingest.ingest(session, run_id, batch)
    return worker_api.Acknowledged(acknowledged=acknowledged)


@router.post("/worker/runs/{run_id}/release")
def release(db: Db, settings: CurrentSettings, run_id: RunId, ended: worker_api.Release) -> worker_api.Released:
    """Give a run back."""
    with db.write() as session:
        run = attempts.release(session, settings, run_id, ended)
        return worker_api.Released(state=run.state)


@router.post(
    "/worker/errands/claim", response_model=worker_api.ErrandClaim, responses={204: {"description": "Nothing waits."}}
)
def claim_errand(
    db: Db, settings: CurrentSettings, wanted: worker_api.ErrandClaimRequest
) -> worker_api.ErrandClaim | Response:
    """Hand over the oldest waiting errand."""
    with db.write() as session:
        claimed = errands.claim(session, settings, wanted.name)
    return claimed if claimed is not None else Response(status_code=204)


@router.post("/worker/errands/{errand_id}/events")
def post_errand_events(db: Db, errand_id: ErrandId, batch: worker_api.EventBatch) -> worker_api.Acknowledged:
    """Store events of an errand; a repeated batch changes nothing, a gap is refused."""
    with db.write() as session:
        acknowledged = errands.ingest(session, errand_id, batch)
    return worker_api.Acknowledged(acknowledged=acknowledged)


@router.post("/worker/errands/{errand_id}/release")
def release_errand(
    db: Db, settings: CurrentSettings, errand_id: ErrandId, ended: worker_api.Release
) -> worker_api.Released:
    """Give an errand back."""
    with db.write() as session:
        return worker_api.Released(state=errands.release(session, settings, errand_id, ended).state)


@router.post("/worker/goodbye", status_code=204)
def goodbye(db: Db, leaving: worker_api.Goodbye) -> Response:
    """A worker leaves."""
    with db.write() as session:
        registry.leave(session, leaving.name)
    return Response(status_code=204)

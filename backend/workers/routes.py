"""/workers for users, and /worker/… for workers: heartbeat, claim, events, release, goodbye."""

from fastapi import APIRouter, Response

from backend.config import CurrentSettings
from backend.db import Db
from backend.ids import RunId
from backend.workers import attempts, ingest, registry, schemas

router = APIRouter(tags=["workers"])


@router.get("/workers")
def list_workers(db: Db) -> list[schemas.Worker]:
    """Workers, what they run on, and what they run."""
    with db.read() as session:
        return registry.listed(session)


@router.post("/worker/heartbeat")
def heartbeat(db: Db, settings: CurrentSettings, report: schemas.Heartbeat) -> schemas.HeartbeatAnswer:
    """A worker lives; answers with what is wanted of its run."""
    with db.write() as session:
        found = registry.beat(session, settings, report)
    if found.stale is not None:
        raise found.stale
    return schemas.HeartbeatAnswer(desired=found.desired, lease_seconds=settings.lease_seconds)


@router.post("/worker/claim", response_model=schemas.Claim, responses={204: {"description": "Nothing waits."}})
def claim(db: Db, settings: CurrentSettings, wanted: schemas.ClaimRequest) -> schemas.Claim | Response:
    """Hand over the best waiting run of a queue."""
    with db.write() as session:
        claimed = attempts.claim(session, settings, wanted.name, wanted.queue)
    return claimed if claimed is not None else Response(status_code=204)


@router.post("/worker/runs/{run_id}/events")
def post_events(db: Db, run_id: RunId, batch: schemas.EventBatch) -> schemas.Acknowledged:
    """Store events; a repeated batch changes nothing, a gap is refused."""
    with db.write() as session:
        acknowledged = ingest.ingest(session, run_id, batch)
    return schemas.Acknowledged(acknowledged=acknowledged)


@router.post("/worker/runs/{run_id}/release")
def release(db: Db, settings: CurrentSettings, run_id: RunId, ended: schemas.Release) -> schemas.Released:
    """Give a run back."""
    with db.write() as session:
        run = attempts.release(session, settings, run_id, ended)
        return schemas.Released(state=run.state)


@router.post("/worker/goodbye", status_code=204)
def goodbye(db: Db, leaving: schemas.Goodbye) -> Response:
    """A worker leaves."""
    with db.write() as session:
        registry.leave(session, leaving.name)
    return Response(status_code=204)

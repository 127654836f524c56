"""/replays/…/saliency: ask for it, see where it stands, read it, and remove it."""

from fastapi import APIRouter, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.jobs import service as jobs
from backend.saliency import maps, service
from backend.saliency.schemas import ReplaySaliency, SaliencyMaps
from backend.web.lookup import PathId

router = APIRouter(tags=["files"])


@router.post("/replays/{replay_id}/saliency")
def ask_saliency(db: Db, bell: Bell, replay_id: PathId) -> ReplaySaliency:
    """Have a worker compute which places counted in a replay; one that is there, or under way, stays as it is."""
    with db.write() as session:
        replay, job = service.ask(session, replay_id)
        if job.state == "queued":
            bell.ring_after_commit(session, job)
        return service.shown(session, replay, job)


@router.get("/replays/{replay_id}/saliency")
def read_saliency(db: Db, replay_id: PathId) -> ReplaySaliency:
    """Where the saliency of a replay stands."""
    with db.read() as session:
        return service.shown(session, *service.find(session, replay_id))


@router.get("/replays/{replay_id}/saliency/maps")
def read_saliency_maps(db: Db, settings: CurrentSettings, replay_id: PathId) -> SaliencyMaps:
    """How much each place counted in a replay, decision by decision."""
    with db.read() as session:
        file = service.find_file(session, replay_id)
    return maps.read(file, settings.files_dir)


@router.delete("/replays/{replay_id}/saliency", status_code=204)
def delete_saliency(db: Db, replay_id: PathId) -> Response:
    """Remove the saliency of a replay; a computation that is under way ends."""
    with db.write() as session:
        jobs.remove(session, service.find(session, replay_id, lock=True)[1])
    return Response(status_code=204)

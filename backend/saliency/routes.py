"""/videos/…/saliency: ask for it, see where it stands, read it, and remove it."""

from fastapi import APIRouter, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.jobs import service as jobs
from backend.saliency import maps, service
from backend.saliency.schemas import ReplaySaliency, SaliencyMaps
from backend.web.lookup import PathId

router = APIRouter(tags=["files"])


@router.post("/videos/{video_id}/saliency")
def ask_saliency(db: Db, bell: Bell, video_id: PathId) -> ReplaySaliency:
    """Have a worker compute which places counted in a replay; one that is there, or under way, stays as it is."""
    with db.write() as session:
        video, job = service.ask(session, video_id)
        if job.state == "queued":
            bell.ring_after_commit(session, job)
        return service.shown(session, video, job)


@router.get("/videos/{video_id}/saliency")
def read_saliency(db: Db, video_id: PathId) -> ReplaySaliency:
    """Where the saliency of a replay stands."""
    with db.read() as session:
        return service.shown(session, *service.find(session, video_id))


@router.get("/videos/{video_id}/saliency/maps")
def read_saliency_maps(db: Db, settings: CurrentSettings, video_id: PathId) -> SaliencyMaps:
    """How much each place counted in a replay, decision by decision."""
    with db.read() as session:
        file = service.find_file(session, video_id)
    return maps.read(file, settings.files_dir)


@router.delete("/videos/{video_id}/saliency", status_code=204)
def delete_saliency(db: Db, video_id: PathId) -> Response:
    """Remove the saliency of a replay; a computation that is under way ends."""
    with db.write() as session:
        jobs.remove(session, service.find(session, video_id, lock=True)[1])
    return Response(status_code=204)

"""Routes for the saliency of replays: request, read and delete it."""

from fastapi import APIRouter, Depends, Request, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.jobs import service as jobs
from backend.saliency import maps, service
from backend.saliency.schemas import ReplaySaliency, SaliencyMaps
from backend.web.lookup import PathId
from backend.web.waiting import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while

router = APIRouter(tags=["files"])


@router.post("/replays/{replay_id}/saliency")
def request_saliency(db: Db, bell: Bell, replay_id: PathId) -> ReplaySaliency:
    """Queue the computation of a replay's saliency. Does nothing if it exists or is in progress."""
    with db.write() as session:
        replay, job = service.request(session, replay_id)
        if job.state == "queued":
            bell.ring_after_commit(session, job)
        return service.to_schema(session, replay, job)


async def wait_for_saliency(
    request: Request, replay_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the computation of the saliency has ended, if requested."""
    if wait is not None:
        await wait_while(lambda session: job_in_progress(service.find(session, replay_id)[1]), request, timeout)


@router.get("/replays/{replay_id}/saliency", dependencies=[Depends(wait_for_saliency)])
def read_saliency(db: Db, replay_id: PathId) -> ReplaySaliency:
    """Return the state of a replay's saliency, immediately or once its computation has ended."""
    with db.read() as session:
        return service.to_schema(session, *service.find(session, replay_id))


@router.get("/replays/{replay_id}/saliency/maps")
def read_saliency_maps(db: Db, settings: CurrentSettings, replay_id: PathId) -> SaliencyMaps:
    """Return the saliency maps of a replay, decision by decision."""
    with db.read() as session:
        file = service.find_file(session, replay_id)
    return maps.read(file, settings.files_dir)


@router.delete("/replays/{replay_id}/saliency", status_code=204)
def delete_saliency(db: Db, replay_id: PathId) -> Response:
    """Delete the saliency of a replay, and cancel its computation if it is in progress."""
    with db.write() as session:
        jobs.remove(session, service.find(session, replay_id, lock=True)[1])
    return Response(status_code=204)

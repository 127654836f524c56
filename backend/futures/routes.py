"""Routes for the futures of replays: request, list, read and delete them."""

from fastapi import APIRouter, Depends, Request, Response

from backend.database.engine import Db
from backend.doorbell import Bell
from backend.futures import service
from backend.futures.schemas import Futures, FuturesSummary, SimulateFutures
from backend.replays.service import find_replay
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId
from backend.web.waiting import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while

router = APIRouter(tags=["files"])


@router.post("/replays/{replay_id}/futures", status_code=201)
def request_futures(db: Db, bell: Bell, once: Idempotent, replay_id: PathId, wanted: SimulateFutures) -> Futures:
    """Queue the simulation of how a replay could continue from one of its decisions."""
    with once.write(db) as session:
        futures, job = service.request(session, replay_id, wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, service.to_schema(session, futures, job))


@router.get("/replays/{replay_id}/futures")
def list_futures(db: Db, replay_id: PathId) -> list[FuturesSummary]:
    """List the futures of a replay without their results, newest first."""
    with db.read() as session:
        return service.list_futures(session, find_replay(session, replay_id))


async def wait_for_futures(
    request: Request, futures_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the simulation has ended, if requested."""
    if wait is not None:
        await wait_while(lambda session: job_in_progress(service.find(session, futures_id)[1]), request, timeout)


@router.get("/futures/{futures_id}", dependencies=[Depends(wait_for_futures)])
def read_futures(db: Db, futures_id: PathId) -> Futures:
    """Return futures, immediately or once their simulation has ended."""
    with db.read() as session:
        return service.to_schema(session, *service.find(session, futures_id))


@router.delete("/futures/{futures_id}", status_code=204)
def delete_futures(db: Db, futures_id: PathId) -> Response:
    """Delete futures. A simulation in progress is canceled."""
    with db.write() as session:
        service.delete(session, service.find(session, futures_id, lock=True)[1])
    return Response(status_code=204)

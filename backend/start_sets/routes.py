"""Routes of start sets: import, list, read, export and delete."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.start_sets import from_replays, service
from backend.start_sets.schemas import Name, SavedStartPoints, SaveStartPoints, StartSet
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId
from backend.web.waiting import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while
from workers.contract.games import EnvironmentId
from workers.contract.protocols.starts import StartSetFile

router = APIRouter(tags=["evaluations"])


@router.post("/start-sets", status_code=201)
def import_start_set(
    db: Db,
    once: Idempotent,
    points: StartSetFile,
    name: Annotated[Name, Query(description="Name, unique for the game.")],
) -> StartSet:
    """Import a start set. The body is a file as `arcadia evaluate` writes it."""
    stored = service.build_start_set(name, points)
    with once.write(db) as session:
        return once.store(session, service.to_schema(service.store(session, stored)))


@router.get("/start-sets")
def list_start_sets(
    db: Db,
    env: Annotated[EnvironmentId | None, Query(description="Only of this game, for example ALE/Pong-v5.")] = None,
) -> list[StartSet]:
    """List the start sets, newest first."""
    with db.read() as session:
        return [service.to_schema(stored) for stored in service.list_start_sets(session, env)]


@router.get("/start-sets/{start_set_id}")
def read_start_set(db: Db, start_set_id: PathId) -> StartSet:
    """Return a start set without its points."""
    with db.read() as session:
        return service.to_schema(service.find_start_set(session, start_set_id))


@router.get("/export/start-sets/{start_set_id}.json", response_model=StartSetFile)
def export_start_set(db: Db, start_set_id: PathId) -> Response:
    """Export a start set as a file for `arcadia evaluate --starts`."""
    with db.read() as session:
        stored = service.find_start_set(session, start_set_id, content=True)
    headers = {"Content-Disposition": f'attachment; filename="{service.file_name(stored)}"'}
    return Response(stored.content, headers=headers, media_type="application/json")


@router.delete("/start-sets/{start_set_id}", status_code=204)
def delete_start_set(db: Db, start_set_id: PathId) -> Response:
    """Permanently delete a start set. Finished evaluations keep their scores."""
    with db.write() as session:
        service.remove(session, service.find_start_set(session, start_set_id, lock=True))
    return Response(status_code=204)


@router.post("/replays/{replay_id}/start-points", status_code=201)
def save_start_points(
    db: Db, bell: Bell, settings: CurrentSettings, once: Idempotent, replay_id: PathId, wanted: SaveStartPoints
) -> SavedStartPoints:
    """Save decisions of a replay as a start set for agent-starts.

    A worker repeats the episode, since a start point contains the hash of its screen.
    """
    with once.write(db) as session:
        job = from_replays.request(session, settings, replay_id, wanted)
        bell.ring_after_commit(session, job)
        return once.store(session, from_replays.to_schema(session, job))


async def wait_for_points(
    request: Request, replay_id: PathId, saving_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until saving has ended, if requested."""
    if wait is not None:
        await wait_while(
            lambda session: job_in_progress(from_replays.find(session, replay_id, saving_id)), request, timeout
        )


@router.get("/replays/{replay_id}/start-points/{saving_id}", dependencies=[Depends(wait_for_points)])
def read_saved_start_points(db: Db, replay_id: PathId, saving_id: PathId) -> SavedStartPoints:
    """Return whether the start points of a request are saved, immediately or once saving has ended."""
    with db.read() as session:
        return from_replays.to_schema(session, from_replays.find(session, replay_id, saving_id))

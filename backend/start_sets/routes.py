"""Routes of start sets: import, list, read, export and delete."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend.database.engine import Db
from backend.start_sets import service
from backend.start_sets.schemas import Name, StartSet
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId
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

"""/start-sets: import, list, read, export and remove sets of start points."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend.database.engine import Db
from backend.start_sets import service
from backend.start_sets.schemas import Name, StartSet
from backend.web.lookup import PathId
from workers.contract.games import EnvironmentId
from workers.contract.protocols.starts import StartSetFile

router = APIRouter(tags=["evaluations"])


@router.post("/start-sets", status_code=201)
def import_start_set(
    db: Db,
    points: StartSetFile,
    name: Annotated[Name, Query(description="What to call it; other games may have the same.")],
) -> StartSet:
    """Store a set of start points. The body is the file that `arcadia evaluate` reads and writes."""
    stored = service.made(name, points)
    with db.write() as session:
        return service.shown(service.keep(session, stored))


@router.get("/start-sets")
def list_start_sets(
    db: Db, env: Annotated[EnvironmentId | None, Query(description="Of this game alone, as ALE/Pong-v5.")] = None
) -> list[StartSet]:
    """The stored sets of start points, the newest first."""
    with db.read() as session:
        return [service.shown(stored) for stored in service.listed(session, env)]


@router.get("/start-sets/{start_set_id}")
def read_start_set(db: Db, start_set_id: PathId) -> StartSet:
    """A set of start points, without the points."""
    with db.read() as session:
        return service.shown(service.find_start_set(session, start_set_id))


@router.get("/export/start-sets/{start_set_id}.json", response_model=StartSetFile)
def export_start_set(db: Db, start_set_id: PathId) -> Response:
    """A set as a file that `arcadia evaluate --starts` reads."""
    with db.read() as session:
        stored = service.find_start_set(session, start_set_id, content=True)
    headers = {"Content-Disposition": f'attachment; filename="{service.file_name(stored)}"'}
    return Response(stored.content, headers=headers, media_type="application/json")


@router.delete("/start-sets/{start_set_id}", status_code=204)
def delete_start_set(db: Db, start_set_id: PathId) -> Response:
    """Remove a set of start points for good; evaluations that have ended keep their scores."""
    with db.write() as session:
        service.remove(session, service.find_start_set(session, start_set_id, lock=True))
    return Response(status_code=204)

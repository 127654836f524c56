"""/kept-games: list, read and remove games that people have played, and make start points of them."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.kept_games import service
from backend.kept_games.schemas import KeptGame
from backend.start_sets import service as start_points
from backend.start_sets.schemas import Name, StartSet
from backend.web.lookup import PathId
from workers.contract.games import EnvironmentId

router = APIRouter(tags=["live"])


@router.get("/kept-games")
def list_kept_games(
    db: Db, env: Annotated[EnvironmentId | None, Query(description="Of this game alone, as ALE/Pong-v5.")] = None
) -> list[KeptGame]:
    """The games that people have played and keep, the newest first."""
    with db.read() as session:
        return service.listed(session, env)


@router.get("/kept-games/{kept_id}")
def read_kept_game(db: Db, kept_id: PathId) -> KeptGame:
    """A kept game, and where its film stands."""
    with db.read() as session:
        return service.shown(session, service.find_kept(session, kept_id))


@router.post("/kept-games/{kept_id}/start-points", status_code=201)
def keep_start_points(
    db: Db,
    settings: CurrentSettings,
    kept_id: PathId,
    name: Annotated[Name, Query(description="What to call the set.")],
) -> StartSet:
    """Store 100 points spread over a kept game as a set of human-starts."""
    with db.read() as session:
        kept = service.find_kept(session, kept_id, whole=True)
    # Of a long game this takes seconds, in which others can write.
    stored = service.start_points_of(settings, kept, name)
    with db.write() as session:
        return start_points.to_schema(start_points.store(session, stored))


@router.delete("/kept-games/{kept_id}", status_code=204)
def delete_kept_game(db: Db, kept_id: PathId) -> Response:
    """Remove a kept game and its film for good; start points that were made of it stay."""
    with db.write() as session:
        service.remove(session, service.find_kept(session, kept_id))
    return Response(status_code=204)

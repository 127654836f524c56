"""Routes for kept games: list, read and delete them, and make start points from them."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.kept_games import service
from backend.kept_games.schemas import KeptGame
from backend.start_sets import service as start_points
from backend.start_sets.schemas import Name, StartSet
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId
from workers.contract.games import EnvironmentId
from workers.contract.values import Id

router = APIRouter(tags=["live"])


@router.get("/kept-games")
def list_kept_games(
    db: Db,
    env: Annotated[
        EnvironmentId | None, Query(description="Return only games of this environment, such as ALE/Pong-v5.")
    ] = None,
    replay_id: Annotated[Id | None, Query(description="Return only games that continue this replay.")] = None,
) -> list[KeptGame]:
    """List kept games, newest first."""
    with db.read() as session:
        return service.list_kept(session, env, replay_id)


@router.get("/kept-games/{kept_id}")
def read_kept_game(db: Db, kept_id: PathId) -> KeptGame:
    """Return a kept game with the state of its video."""
    with db.read() as session:
        return service.to_schema(session, service.find_kept(session, kept_id))


@router.post("/kept-games/{kept_id}/start-points", status_code=201)
def keep_start_points(
    db: Db,
    settings: CurrentSettings,
    once: Idempotent,
    kept_id: PathId,
    name: Annotated[Name, Query(description="The name of the start set.")],
) -> StartSet:
    """Store 100 points, spread evenly over a kept game, as a start set for human-starts."""
    with db.read() as session:
        kept = service.find_kept(session, kept_id, whole=True)
    # A long game takes seconds, so this is outside the write transaction.
    stored = service.make_start_set(settings, kept, name)
    with once.write(db) as session:
        return once.store(session, start_points.to_schema(start_points.store(session, stored)))


@router.delete("/kept-games/{kept_id}", status_code=204)
def delete_kept_game(db: Db, kept_id: PathId) -> Response:
    """Permanently delete a kept game and its video. Start sets made from it stay."""
    with db.write() as session:
        service.delete(session, service.find_kept(session, kept_id))
    return Response(status_code=204)

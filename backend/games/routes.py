"""/games: the list and one game, also as CSV, and its tables as bars."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from backend.database.engine import Db
from backend.figures.schemas import Figure
from backend.games import schemas, wall
from backend.games.catalogue import Slug
from backend.games.figure import table_figure
from backend.games.game import game, table, whole_tables
from backend.games.scores import Like
from backend.games.spreadsheet import game_lines, wall_lines
from backend.web.csv_files import attachment

router = APIRouter(tags=["games"])


@router.get("/games")
def list_games(db: Db) -> schemas.Games:
    """Atari games that have runs or published scores, with their best scores and averages over the games."""
    with db.read() as session:
        return wall.games(session)


@router.get("/games/{slug}")
def read_game(db: Db, slug: Slug) -> schemas.Game:
    """The scores of a game's best runs beside those that the papers publish, a table for each protocol."""
    with db.read() as session:
        return game(session, slug)


@router.get("/games/{slug}/figure")
def draw_scores(
    db: Db,
    slug: Slug,
    protocol: Annotated[str, Query(max_length=200, description="That of the table, as no-op-5min.")],
    starts: Annotated[str | None, Query(max_length=64, description="The table's set of start points.")] = None,
) -> Figure:
    """One table of a game as bars: the best runs with their intervals, and every published score."""
    with db.read() as session:
        return table_figure(table(session, slug, Like(protocol, starts)))


@router.get("/export/games.csv", response_class=StreamingResponse)
def export_games(db: Db) -> StreamingResponse:
    """The best score of each game by each protocol as CSV. The averages over the games are in `/games` alone."""
    with db.read() as session:
        found = wall.games(session).games
    return attachment(wall_lines(found), "games.csv")


@router.get("/export/games/{slug}.csv", response_class=StreamingResponse)
def export_game(db: Db, slug: Slug) -> StreamingResponse:
    """Every score of a game as CSV, with its protocol, interval and source."""
    with db.read() as session:
        found = whole_tables(session, slug)
    return attachment(game_lines(found), f"{slug}.csv")

"""Routes of games, their score tables and figures, and CSV exports."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from arcadia_backend.database.engine import Db
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.games import schemas, service
from arcadia_backend.games.figure import table_figure
from arcadia_backend.games.overview import load_games
from arcadia_backend.games.scores import TableKey
from arcadia_backend.games.service import Slug
from arcadia_backend.games.tables import game_csv, overview_csv
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.web.formats import attachment

router = APIRouter(tags=["games"])


@router.get("/games")
def list_games(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> schemas.Games:
    """List Atari games that have runs or published scores, with their best scores and averages."""
    with db.read() as session:
        return load_games(session, project)


@router.get("/games/{slug}")
def read_game(
    db: Db,
    slug: Slug,
    project: Projects = [],  # noqa: B006
) -> schemas.Game:
    """Return the scores of a game's best runs and of the papers, in a table for each protocol."""
    with db.read() as session:
        return service.read_game(session, slug, project)


@router.get("/games/{slug}/figure")
def draw_scores(
    db: Db,
    slug: Slug,
    protocol: Annotated[str, Query(max_length=200, description="Protocol of the table, such as no-op-5min.")],
    starts: Annotated[str | None, Query(max_length=64, description="Start set of the table.")] = None,
    project: Projects = [],  # noqa: B006
) -> Figure:
    """Return a table as a bar chart: the best runs with their intervals, and all published scores."""
    with db.read() as session:
        return table_figure(service.read_table(session, slug, TableKey(protocol, starts), project))


@router.get("/export/games.csv", response_class=StreamingResponse)
def export_games(
    db: Db,
    project: Projects = [],  # noqa: B006
) -> StreamingResponse:
    """Export the best score of each game by each protocol as CSV, without averages."""
    with db.read() as session:
        games = load_games(session, project).games
    return attachment(overview_csv(games), "games.csv")


@router.get("/export/games/{slug}.csv", response_class=StreamingResponse)
def export_game(
    db: Db,
    slug: Slug,
    project: Projects = [],  # noqa: B006
) -> StreamingResponse:
    """Export all scores of a game as CSV, with protocol, interval and source."""
    with db.read() as session:
        scores = service.read_all_scores(session, slug, project)
    return attachment(game_csv(scores), f"{slug}.csv")

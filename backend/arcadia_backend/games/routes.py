"""Routes of games, their score tables and figures, and CSV exports."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Annotated

import numpy as np
import plotly.graph_objects as go
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.drawing import Figure, as_text
from arcadia_backend.games import schemas, service
from arcadia_backend.games.schemas import ScoreTable, TableRow
from arcadia_backend.games.scores import (
    FinishedEvaluation,
    TableKey,
    best_by,
    best_of_runs,
    evaluations_of_runs,
    methods_of,
    reference,
    to_schemas,
)
from arcadia_backend.games.service import ATARI, GAMES, Slug, newest_of_games, newest_of_runs
from arcadia_backend.games.tables import game_csv, overview_csv, published_scores
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.projects.service import in_projects
from arcadia_backend.web.formats import attachment
from arcadia_workers.contract import published
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.inference.samples import interquartile_mean, mean, median
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import NormalizedBy


def load_games(session: Session, projects: Collection[str] = ()) -> schemas.Games:
    """Return the games that have runs or published scores, by name. Runs are of some projects or of all."""
    wanted = (Run.env.in_(ATARI), *in_projects(Run.project_id, projects))
    counts = select(Run.env, func.count()).where(*wanted).group_by(Run.env)
    runs = {row[0]: row[1] for row in session.execute(counts)}
    every = evaluations_of_runs(session, ATARI, projects)
    methods = methods_of(session, every, ATARI, projects)
    best = best_of_runs(every)
    scored: dict[str, set[int]] = {}
    for each in best:
        scored.setdefault(each.env, set()).add(each.run_id)
    scores = _best_scores(session, best)
    pictures = newest_of_games(session, ATARI, projects)
    cards = [
        schemas.GameCard(
            slug=slug,
            name=game.title,
            env=game.id,
            runs=runs.get(game.id, 0),
            evaluated_runs=len(scored.get(game.id, ())),
            published=len(published_scores(game.id)),
            methods=methods.get(game.id, []),
            best=scores.get(game.id, []),
            picture=pictures.get(game.id),
        )
        for slug, game in GAMES.items()
    ]
    shown = sorted((card for card in cards if card.runs or card.published), key=lambda card: card.name)
    return schemas.Games(games=shown, averages=averages(shown), published_averages=_published_averages())


def _best_scores(session: Session, evaluations: Sequence[FinishedEvaluation]) -> dict[str, list[schemas.BestScore]]:
    """Return the best score of each game by each protocol, with a replay of its run."""
    chosen = best_by(evaluations, lambda each: (each.env, each.key))
    scores = to_schemas(session, chosen)
    pictures = newest_of_runs(session, {each.run_id for each in chosen})
    order = list(PROTOCOLS)
    by_game: dict[str, list[schemas.BestScore]] = {}
    for each in sorted(chosen, key=lambda each: order.index(each.key.protocol)):
        score = schemas.BestScore(**dict(scores[each.id]), picture=pictures.get(each.run_id))
        by_game.setdefault(each.env, []).append(score)
    return by_game


def averages(cards: Sequence[schemas.GameCard]) -> list[schemas.Average]:
    """Return averages of each method over the games with an evaluation, by protocol. The best method comes first."""
    by_method: dict[tuple[str, str], list[tuple[str, schemas.MethodScore]]] = {}
    for card in cards:
        for score in card.methods:
            by_method.setdefault((score.protocol, score.algorithm), []).append((card.env, score))
    order = list(PROTOCOLS)
    every = [_average(scores) for scores in by_method.values()]
    return sorted(every, key=lambda each: (order.index(each.protocol), -(each.median or -math.inf)))


def _average(scores: Sequence[tuple[str, schemas.MethodScore]]) -> schemas.Average:
    first = scores[0][1]
    normalized = [(env, score) for env, score in scores if math.isfinite(_percent(score))]
    percents = [_percent(score) for _, score in normalized]
    bases = [reference(env, score.protocol) for env, score in normalized]
    tables = {
        (by.source, by.table): schemas.Source(source=by.source, table=by.table)
        for by in bases
        if isinstance(by, NormalizedBy)
    }
    protocol = PROTOCOLS[first.protocol]
    return schemas.Average(
        protocol=protocol.name,
        algorithm=first.algorithm,
        method=first.method,
        title=protocol.title,
        sentence=protocol.sentence,
        # A game may have several scores, one from each start set.
        games=len({env for env, _ in scores}),
        normalized_games=len({env for env, _ in normalized}),
        runs=sum(score.runs for _, score in normalized),
        mean=_over(mean, percents),
        median=_over(median, percents),
        interquartile_mean=_over(interquartile_mean, percents),
        normalized_by=list(tables.values()),
    )


def _over(statistic: Callable[[Floats], Floats], percents: Sequence[float]) -> float | None:
    """Return a statistic over games, or None without any."""
    return float(statistic(np.array([percents]))) if percents else None


def _percent(score: schemas.MethodScore) -> float:
    return math.nan if score.human_normalized is None else score.human_normalized


def _published_averages() -> list[schemas.PublishedAverage]:
    return [
        schemas.PublishedAverage(
            **row.model_dump(include={"source", "table", "protocol", "method", "training_time"}),
            mean=row.mean_percent,
            median=row.median_percent,
        )
        for row in published.summaries()
    ]


METHOD_COLOR, PUBLISHED_COLOR = "#3451b2", "#868e99"


def table_figure(table: ScoreTable) -> Figure:
    """Return the methods and published scores of a table, best first."""
    rows = [row for row in table.rows if math.isfinite(row.score)]
    placed = list(enumerate(rows))
    # Separate traces: Plotly draws an empty interval at bars that have none.
    bars = [[(place, row) for place, row in placed if bool(_interval(row)) == has] for has in (True, False)]
    ticks = {"tickmode": "array", "tickvals": [*range(len(rows))], "ticktext": [as_text(row.player) for row in rows]}
    layout = {
        "xaxis": {"title": {"text": "score"}, "fixedrange": True},
        "yaxis": {"autorange": "reversed", "fixedrange": True, "showgrid": False, "zeroline": False, **ticks},
        "bargap": 0.35,
        "barmode": "overlay",
    }
    return Figure(data=[_bars(some).to_plotly_json() for some in bars if some], layout=layout)


def _bars(placed: Sequence[tuple[int, TableRow]]) -> go.Bar:
    rows = [row for _, row in placed]
    return go.Bar(
        orientation="h",
        y=[place for place, _ in placed],
        x=[row.score for row in rows],
        marker={
            "color": [METHOD_COLOR if row.method else PUBLISHED_COLOR for row in rows],
            "opacity": [0.4 if row.unranked_because else 1 for row in rows],
        },
        error_x=_intervals([(row.score, ends) for row in rows if (ends := _interval(row))]),
        hovertext=[_hover(row) for row in rows],
        hoverinfo="text",
        showlegend=False,
    )


def _intervals(ends: Sequence[tuple[float, tuple[float, float]]]) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - score for score, (_, high) in ends],
        "arrayminus": [score - low for score, (low, _) in ends],
        "color": PUBLISHED_COLOR,
        "thickness": 1.5,
        "width": 4,
        "visible": bool(ends),
    }


def _interval(row: TableRow) -> tuple[float, float] | None:
    return row.method.interval if row.method else None


def _hover(row: TableRow) -> str:
    if row.method is None:
        return as_text(f"{row.player}: {row.score:,.6g} ({', '.join(f'{s.source}, {s.table}' for s in row.sources)})")
    ends, runs = _interval(row), row.method.runs
    interval = f", 95% interval {ends[0]:,.6g} to {ends[1]:,.6g}" if ends else ""
    return as_text(f"{row.player}: {row.score:,.6g}{interval}, {runs} run{'s' * (runs != 1)}")


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

"""Figures of evaluation scores: ours beside the paper's by the same protocol, in percent of the human score."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.games.schemas import MethodScore
from backend.games.scores import evaluations_of_runs, methods_of, normalized, reference
from backend.papers import drawing
from backend.papers.definition import DrawItem, PrintedNumber, StartedStudy
from workers.contract.games import ENVIRONMENTS
from workers.contract.published.rows import NormalizedScore, Score

# Lower percentages are drawn here, at the edge of the logarithmic axis. The tooltip has the value.
MIN_PERCENT = 1.0
SYMBOLS = ("diamond-open", "circle-open", "square-open", "cross-open")


def number_of(row: Score) -> PrintedNumber:
    """Return a published score as a printed number."""
    return PrintedNumber(f"{title_of(row.env)}, {row.player}", row.score, "", row.source, row.table, row.protocol)


def percent_of(row: NormalizedScore) -> PrintedNumber:
    """Return a published percentage as a printed number."""
    what = f"{title_of(row.env)}, {row.player} normalized by {row.normalized_by}"
    return PrintedNumber(what, row.percent, "%", row.source, row.table, row.protocol)


def title_of(env: str) -> str:
    """Return the name of a game."""
    return ENVIRONMENTS[env].title


def human_normalized(rows: Sequence[Score], protocol: str) -> DrawItem:
    """Return a function that draws scores by one protocol, game by game. Games without human scores are left out."""
    players = [player for player in dict.fromkeys(row.player for row in rows) if player not in ("random", "human")]
    games = sorted({row.env for row in rows if not isinstance(reference(row.env, protocol), str)}, key=title_of)

    def draw(session: Session, _: Sequence[StartedStudy]) -> Figure:
        hover = {player: {row.env: row.score for row in rows if row.player == player} for player in players}
        traces = [
            _trace(player, drawing.THEIRS, scores, protocol, symbol=SYMBOLS[place])
            for place, (player, scores) in enumerate(hover.items())
        ]
        traces += _ours(session, games, protocol)
        layout = {"type": "category", "categoryorder": "array", "categoryarray": [title_of(env) for env in games][::-1]}
        return drawing.figure(traces, "human-normalized score, %", {"type": "log"}, yaxis=layout)

    return draw


def _ours(session: Session, games: Sequence[str], protocol: str) -> list[go.Scatter]:
    """Return the mean over the runs of each method in each game."""
    found: dict[str, dict[str, MethodScore]] = {}
    for env, scores in methods_of(session, evaluations_of_runs(session, games), games).items():
        for score in scores:
            if score.protocol == protocol:
                found.setdefault(score.method, {})[env] = score
    return [
        _trace(
            f"Ours: {method}",
            drawing.color_at(place),
            {env: score.mean for env, score in by_game.items()},
            protocol,
            {env: f", {score.runs} run{'s' * (score.runs != 1)}" for env, score in by_game.items()},
            size=9,
        )
        for place, (method, by_game) in enumerate(sorted(found.items()))
    ]


def _trace(
    name: str,
    color: str,
    scores: Mapping[str, float],
    protocol: str,
    notes: Mapping[str, str] | None = None,
    **mark: Any,
) -> go.Scatter:
    percents = {env: normalized(score, reference(env, protocol)) for env, score in scores.items()}
    shown = {env: percent for env, percent in percents.items() if percent is not None}
    after = notes or {}
    hover = [
        f"{title_of(env)}, {name}: {percent:,.4g} % ({scores[env]:,.6g}){after.get(env, '')}"
        for env, percent in shown.items()
    ]
    x = [max(MIN_PERCENT, percent) for percent in shown.values()]
    return drawing.dots(name, color, x, [title_of(env) for env in shown], hover, **mark)

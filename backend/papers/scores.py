"""Figures of evaluation scores: ours beside the paper's by the same protocol, in percent of the human score."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.games.scores import best_by, best_of_runs, normalized, reference
from backend.papers import drawing
from backend.papers.definition import DrawItem, PrintedNumber, StartedStudy
from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
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
    """Return the best score in each game. If no run has all episodes, use the best of fewer, as the games' pages do."""
    comparable = [found for found in best_of_runs(session, games) if found.key.protocol == protocol]
    chosen = best_by((found for found in comparable if math.isfinite(found.mean)), lambda found: found.env)
    full = {found.env: found.mean for found in chosen if not found.short}
    few = {found.env: found for found in chosen if found.env not in full}
    scores = {env: found.mean for env, found in few.items()}
    notes = {env: f", {found.episodes} of {PROTOCOLS[protocol].episodes} episodes" for env, found in few.items()}
    color = drawing.color_at(0)
    return [
        _trace("Ours, the best run", color, full, protocol, size=9),
        _trace("Ours, too few episodes", color, scores, protocol, notes, size=9, symbol="circle-open"),
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

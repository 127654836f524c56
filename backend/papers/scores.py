"""Tables of scores: ours by the same protocol beside theirs, in percent of the human's."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.games.scores import best, best_of_runs, normalised, reference
from backend.papers import drawing
from backend.papers.definition import Draw, Number, Started
from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS
from workers.contract.published.rows import NormalisedScore, Score

# Below this, and at nothing, a logarithmic axis has no place: the dot stands at its edge, and the pointer tells more.
EDGE = 1.0
SYMBOLS = ("diamond-open", "circle-open", "square-open", "cross-open")


def number_of(row: Score) -> Number:
    """A published score."""
    return Number(f"{title_of(row.env)}, {row.player}", row.score, "", row.source, row.table, row.protocol)


def percent_of(row: NormalisedScore) -> Number:
    """A published score in percent."""
    what = f"{title_of(row.env)}, {row.player} normalised by {row.normalised_by}"
    return Number(what, row.percent, "%", row.source, row.table, row.protocol)


def title_of(env: str) -> str:
    """A game as people call it."""
    return ENVIRONMENTS[env].title


def human_normalised(rows: Sequence[Score], protocol: str) -> Draw:
    """A figure of agents' scores by one protocol, game by game; games that cannot be normalised are left out."""
    players = [player for player in dict.fromkeys(row.player for row in rows) if player not in ("random", "human")]
    games = sorted({row.env for row in rows if not isinstance(reference(row.env, protocol), str)}, key=title_of)

    def draw(session: Session, _: Sequence[Started]) -> Figure:
        told = {player: {row.env: row.score for row in rows if row.player == player} for player in players}
        traces = [
            _trace(player, drawing.THEIRS, scores, protocol, symbol=SYMBOLS[place])
            for place, (player, scores) in enumerate(told.items())
        ]
        traces += _ours(session, games, protocol)
        layout = {"type": "category", "categoryorder": "array", "categoryarray": [title_of(env) for env in games][::-1]}
        return drawing.figure(traces, "percent of the human's score, random being 0", {"type": "log"}, yaxis=layout)

    return draw


def _ours(session: Session, games: Sequence[str], protocol: str) -> list[go.Scatter]:
    """The best of any run in each game; where no run has all episodes, the best of fewer, as on the games' pages."""
    comparable = [found for found in best_of_runs(session, games) if found.like.protocol == protocol]
    chosen = best((found for found in comparable if math.isfinite(found.mean)), lambda found: found.env)
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
    percents = {env: normalised(score, reference(env, protocol)) for env, score in scores.items()}
    shown = {env: percent for env, percent in percents.items() if percent is not None}
    after = notes or {}
    told = [
        f"{title_of(env)}, {name}: {percent:,.4g} % ({scores[env]:,.6g}){after.get(env, '')}"
        for env, percent in shown.items()
    ]
    x = [max(EDGE, percent) for percent in shown.values()]
    return drawing.dots(name, color, x, [title_of(env) for env in shown], told, **mark)

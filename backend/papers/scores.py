"""Tables of scores: ours by the same protocol beside theirs, in percent of the human's."""

from collections.abc import Sequence

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.figures.schemas import Figure
from backend.games.scores import best, best_of_runs, normalised, reference
from backend.papers import drawing
from backend.papers.definition import Draw, Number, Started
from workers.contract.games import ENVIRONMENTS
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
        scored = best(best_of_runs(session, games), lambda found: (found.env, found.like))
        ours = {found.env: found.mean for found in scored if found.like.protocol == protocol}
        told = {player: {row.env: row.score for row in rows if row.player == player} for player in players}
        traces = [
            _trace(player, drawing.THEIRS, scores, protocol, symbol=SYMBOLS[place])
            for place, (player, scores) in enumerate(told.items())
        ]
        traces.append(_trace("Ours, the best run", drawing.color_at(0), ours, protocol, size=9))
        layout = {"type": "category", "categoryorder": "array", "categoryarray": [title_of(env) for env in games][::-1]}
        return drawing.figure(traces, "percent of the human's score, random being 0", {"type": "log"}, yaxis=layout)

    return draw


def _trace(name: str, color: str, scores: dict[str, float], protocol: str, **mark: object) -> go.Scatter:
    percents = {env: normalised(score, reference(env, protocol)) for env, score in scores.items()}
    shown = {env: percent for env, percent in percents.items() if percent is not None}
    told = [f"{title_of(env)}, {name}: {percent:,.4g} % ({scores[env]:,.6g})" for env, percent in shown.items()]
    x = [max(EDGE, percent) for percent in shown.values()]
    return drawing.dots(name, color, x, [title_of(env) for env in shown], told, **mark)

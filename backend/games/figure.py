"""Bar chart of one table of scores, with the intervals of runs."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from backend.figures.drawing import as_text
from backend.figures.schemas import Figure
from backend.games.schemas import ScoreTable, TableRow

MAX_RUNS = 20
MAX_NAME_LENGTH = 28
PUBLISHED_COLOR = "#868e99"


def table_figure(table: ScoreTable) -> Figure:
    """Return the best runs and all published scores of a table, best first."""
    rows = [row for row in table.rows if math.isfinite(row.score)]
    runs = [row for row in rows if row.ours][:MAX_RUNS]
    rows = [row for row in rows if row.ours is None or row in runs]
    placed = list(enumerate(rows))
    # Separate traces: Plotly draws an empty interval at bars that have none.
    bars = [[(place, row) for place, row in placed if bool(_interval(row)) == has] for has in (True, False)]
    ticks = {"tickmode": "array", "tickvals": [*range(len(rows))], "ticktext": [_label(row) for row in rows]}
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
            "color": [row.ours.run.color if row.ours else PUBLISHED_COLOR for row in rows],
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
    """Return the interval of a row if both ends are finite."""
    interval = row.ours.interval if row.ours else None
    return interval if interval and all(map(math.isfinite, interval)) else None


def _label(row: TableRow) -> str:
    name = row.player
    if len(name) > MAX_NAME_LENGTH and row.ours:
        number = f" #{row.ours.run.id}"
        name = f"{row.ours.run.name[: MAX_NAME_LENGTH - len(number) - 1]}…{number}"
    return as_text(name)


def _hover(row: TableRow) -> str:
    if row.ours is None:
        return as_text(f"{row.player}: {row.score:,.6g} ({', '.join(f'{s.source}, {s.table}' for s in row.sources)})")
    ends = _interval(row)
    interval = f", 95% interval {ends[0]:,.6g} to {ends[1]:,.6g}" if ends else ""
    unranked = f", not ranked: {row.unranked_because}" if row.unranked_because else ""
    return as_text(f"{row.player}: {row.score:,.6g}{interval}, {row.ours.episodes} episodes{unranked}")

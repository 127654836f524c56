"""One table of scores as bars, with the intervals of runs."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from backend.figures.drawing import as_text
from backend.figures.schemas import Figure
from backend.games.schemas import ScoreTable, TableRow

MOST_RUNS = 20
LONGEST_NAME = 28
PUBLISHED = "#868e99"


def table_figure(table: ScoreTable) -> Figure:
    """The best runs and every published score of a table, the best on top."""
    rows = [row for row in table.rows if math.isfinite(row.score)]
    runs = [row for row in rows if row.ours][:MOST_RUNS]
    rows = [row for row in rows if row.ours is None or row in runs]
    places = list(range(len(rows)))
    bars = go.Bar(
        orientation="h",
        y=places,
        x=[row.score for row in rows],
        marker={
            "color": [row.ours.run.color if row.ours else PUBLISHED for row in rows],
            "opacity": [0.4 if row.unranked_because else 1 for row in rows],
        },
        error_x=_intervals(rows),
        hovertext=[_told(row) for row in rows],
        hoverinfo="text",
        showlegend=False,
    )
    named = {"tickmode": "array", "tickvals": places, "ticktext": [_named(row) for row in rows]}
    layout = {
        "xaxis": {"title": {"text": "score"}, "fixedrange": True},
        "yaxis": {"autorange": "reversed", "fixedrange": True, "showgrid": False, "zeroline": False, **named},
        "bargap": 0.35,
    }
    return Figure(data=[bars.to_plotly_json()], layout=layout)


def _intervals(rows: Sequence[TableRow]) -> dict[str, object]:
    ends = [_interval(row) for row in rows]
    return {
        "type": "data",
        "symmetric": False,
        "array": [end and end[1] - row.score for row, end in zip(rows, ends, strict=True)],
        "arrayminus": [end and row.score - end[0] for row, end in zip(rows, ends, strict=True)],
        "color": PUBLISHED,
        "thickness": 1.5,
        "width": 4,
    }


def _interval(row: TableRow) -> tuple[float, float] | None:
    """An interval of which both ends can be drawn."""
    interval = row.ours.interval if row.ours else None
    return interval if interval and all(map(math.isfinite, interval)) else None


def _named(row: TableRow) -> str:
    name = row.player
    if len(name) > LONGEST_NAME and row.ours:
        number = f" #{row.ours.run.id}"
        name = f"{row.ours.run.name[: LONGEST_NAME - len(number) - 1]}…{number}"
    return as_text(name)


def _told(row: TableRow) -> str:
    if row.ours is None:
        return as_text(f"{row.player}: {row.score:,.6g} ({', '.join(f'{s.source}, {s.table}' for s in row.sources)})")
    ends = _interval(row)
    interval = f", 95 % interval {ends[0]:,.6g} to {ends[1]:,.6g}" if ends else ""
    unranked = f", not ranked: {row.unranked_because}" if row.unranked_because else ""
    return as_text(f"{row.player}: {row.score:,.6g}{interval}, {row.ours.episodes} episodes{unranked}")

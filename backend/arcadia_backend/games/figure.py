"""Bar chart of a score table."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from arcadia_backend.figures.drawing import Figure, as_text
from arcadia_backend.games.schemas import ScoreTable, TableRow

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

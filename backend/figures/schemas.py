"""Figures as clients get them."""

from typing import Any

from pydantic import BaseModel, Field


class FigureName(BaseModel):
    """A figure that can be asked for."""

    name: str
    title: str


class Figure(BaseModel):
    """A Plotly figure; `plotly.graph_objects.Figure(answer)` and `Plotly.newPlot` both take it as it is.

    With `after`, and as long as the earlier part of every line is as it was, `complete` is false and each of `data` is
    `{uid, keep, x, y, …}`: of the trace of that uid keep the first `keep` of each list, and put these behind them.
    """

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    cursor: str = Field(default="", description="To ask with `after` for what is new since this answer.")
    complete: bool = Field(default=True, description="Whether the traces are whole.")
    missing: list[int] = Field(default=[], description="Numbers of named runs that do not exist; the rest is drawn.")

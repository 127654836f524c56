"""Figures as clients get them."""

from typing import Any

from pydantic import BaseModel


class FigureName(BaseModel):
    """A figure that can be asked for."""

    name: str
    title: str


class Figure(BaseModel):
    """A Plotly figure; `plotly.graph_objects.Figure(answer)` and `Plotly.newPlot` both take it as it is."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]

"""API schemas of figures."""

from typing import Any

from pydantic import BaseModel, Field


class FigureName(BaseModel):
    """A figure that the API can draw."""

    name: str
    title: str


class Figure(BaseModel):
    """A Plotly figure for `Plotly.newPlot` and `plotly.graph_objects.Figure(data=…, layout=…)`.

    With `after`, a response may be an update: `complete` is false and each of `data` is `{uid, keep, x, y, …}`. Keep
    the first `keep` items of each list of that trace and append these.
    """

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    cursor: str = Field(default="", description="Send it as `after` to get only what is new.")
    complete: bool = Field(default=True, description="True if the traces are whole, false if they are updates.")
    missing: list[int] = Field(default=[], description="Requested runs that do not exist. All others are drawn.")

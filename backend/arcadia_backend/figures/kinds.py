"""Kinds of figures, registered with their routes, and the query that figures share."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from arcadia_backend.comparisons.routes import RunIds
from arcadia_backend.figures.drawing import MAX_CURSOR_LENGTH, Figure, Look
from arcadia_backend.metrics.queries import Window
from arcadia_backend.metrics.reading import MAX_BUCKETS, Axis


class FigureKind(BaseModel):
    """A figure that the API can draw, and how a page offers, names and refreshes it."""

    name: str = Field(description="Its address is `/api/v1/figures/NAME`.")
    title: str = Field(description="Description in one sentence.")
    label: str = Field(description="Short name for menus, and for a chart that is not drawn yet.")
    heading: str = Field(
        default="{y}", description="Title of a drawn chart. `{x}` and `{y}` are the titles of its axes."
    )
    axis: str = Field(
        default="{x}",
        description="Quantity on the x axis. `{NAME}` is the value of a query parameter. Charts of the same quantity "
        "can share their zoom.",
    )
    one_run: bool = Field(default=False, description="True if it shows exactly one run.")
    in_editors: bool = Field(default=True, description="True if the editors of boards and reports offer it.")
    follows_files: bool = Field(
        default=False, description="True if recordings, evaluations and calibrations of its runs change it."
    )
    empty: str | None = Field(default=None, description="Message in place of an empty figure. Null: no points yet.")
    # Set by the route.
    parameters: list[str] = Field(default=[], description="Query parameters, except `after`.")
    streams: bool = Field(default=False, description="True if it accepts the cursor of an earlier response as `after`.")


FIGURES: list[FigureKind] = []
Read = TypeVar("Read", bound=Callable[..., Figure])


def figure_route(router: APIRouter, kind: FigureKind) -> Callable[[Read], Read]:
    """Add the route of a figure, and list the figure with the parameters of its route."""

    def add(read: Read) -> Read:
        path = f"/figures/{kind.name}"
        router.get(path)(read)
        dependant = APIRoute(path, read).dependant
        names = [param.alias for part in (dependant, *dependant.dependencies) for param in part.query_params]
        accepted = {"parameters": [name for name in names if name != "after"], "streams": "after" in names}
        FIGURES.append(kind.model_copy(update=accepted))
        return read

    return add


@dataclass(frozen=True)
class FigureQuery:
    """Query parameters that figures share: runs, axes, range and smoothing."""

    runs: RunIds
    x: Axis = "step"
    low: Annotated[float, Query(alias="from", description="Start of the x axis. Seconds on the time axis.")] = -inf
    high: Annotated[float, Query(alias="to", description="End of the x axis. Seconds on the time axis.")] = inf
    smoothing: Annotated[
        float,
        Query(ge=0, le=0.99, description="Weight of the past. The line is the same at every zoom."),
    ] = 0.0
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 400
    x_log: bool = False
    y_log: bool = False
    clip: Annotated[bool, Query(description="Choose the range of the y axis without outliers.")] = False
    after: Annotated[
        str | None, Query(description="Cursor of the last response to the same query.", max_length=MAX_CURSOR_LENGTH)
    ] = None

    @property
    def look(self) -> Look:
        """Return the axes of the figure."""
        return Look(self.x, self.x_log, self.y_log, self.clip)

    @property
    def window(self) -> Window:
        """Return the part of each series to read."""
        return Window(self.x, self.low, self.high, self.buckets, self.x_log)

"""Figures, built here and drawn by the browser or a notebook."""

from math import inf
from typing import Annotated

from fastapi import APIRouter, Query

from backend.compare.selection import RunIds
from backend.db import Db
from backend.figures import service
from backend.figures.curves import Look
from backend.figures.schemas import Figure, FigureName
from backend.metrics.curves import Window
from backend.metrics.schemas import MAX_BUCKETS, NAME_PATTERN, Axis

router = APIRouter(tags=["figures"])


@router.get("/figures")
def list_figures() -> list[FigureName]:
    """The figures that there are."""
    return service.FIGURES


@router.get("/figures/curves")
def draw_curves(
    db: Db,
    runs: RunIds,
    metric: Annotated[str, Query(pattern=NAME_PATTERN)] = "episode/return",
    x: Axis = "step",
    low: Annotated[float, Query(alias="from", description="Where the x axis begins; seconds where it is time.")] = -inf,
    high: Annotated[float, Query(alias="to", description="Where the x axis ends; seconds where it is time.")] = inf,
    smoothing: Annotated[float, Query(ge=0, le=0.99, description="Weight of the past in the moving average.")] = 0.0,
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 400,
    x_log: bool = False,
    y_log: bool = False,
) -> Figure:
    """One metric of some runs: smoothed lines over the faint unsmoothed ones and a band from minimum to maximum."""
    look = Look(metric, x, smoothing, x_log, y_log)
    with db.read() as session:
        return service.curves(session, runs, look, Window(x, low, high, buckets, x_log))

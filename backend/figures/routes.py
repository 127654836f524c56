"""Figures, built here and drawn by the browser or a notebook."""

import re
from math import inf
from typing import Annotated

from fastapi import APIRouter, Query

from backend.compare.selection import RunIds, selected
from backend.db import Db
from backend.errors import FieldError, Invalid
from backend.figures import service
from backend.figures.drawing import Look
from backend.figures.schemas import Figure, FigureName
from backend.metrics.curves import Window
from backend.metrics.schemas import MAX_BUCKETS, NAME_PATTERN, Axis

router = APIRouter(tags=["figures"])

Low = Annotated[float, Query(alias="from", description="Where the x axis begins; seconds where it is time.")]
High = Annotated[float, Query(alias="to", description="Where the x axis ends; seconds where it is time.")]
Smoothing = Annotated[float, Query(ge=0, le=0.99, description="Weight of the past in the moving average.")]
Buckets = Annotated[int, Query(ge=1, le=MAX_BUCKETS)]


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
    low: Low = -inf,
    high: High = inf,
    smoothing: Smoothing = 0.0,
    buckets: Buckets = 400,
    x_log: bool = False,
    y_log: bool = False,
) -> Figure:
    """One metric of some runs: smoothed lines over the faint unsmoothed ones and a band from minimum to maximum."""
    with db.read() as session:
        look, window = Look(x, smoothing, x_log, y_log), Window(x, low, high, buckets, x_log)
        return service.curves(session, runs, metric, look, window)


@router.get("/figures/together")
def draw_together(
    db: Db,
    runs: RunIds,
    metrics: Annotated[str, Query(description="Names separated by commas.", max_length=1_000)],
    shares: Annotated[bool, Query(description="Stack what each metric is of their sum.")] = False,
    x: Axis = "step",
    low: Low = -inf,
    high: High = inf,
    smoothing: Smoothing = 0.0,
    buckets: Buckets = 400,
    x_log: bool = False,
    y_log: bool = False,
) -> Figure:
    """Some metrics of one run in one chart."""
    names = metrics.split(",")
    if not all(re.fullmatch(NAME_PATTERN, name) for name in names):
        raise Invalid(FieldError(field="metrics", message="name metrics as metrics=ga3c/agents,ga3c/trainers"))
    with db.read() as session:
        run, *others = selected(session, runs)
        if others:
            raise Invalid(FieldError(field="runs", message="name one run: this figure is of one"))
        look, window = Look(x, smoothing, x_log, y_log), Window(x, low, high, buckets, x_log)
        return service.together(session, run, dict.fromkeys(names), look, window, shares=shares)

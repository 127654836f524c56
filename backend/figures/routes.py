"""Figures, built here and drawn by the browser or a notebook."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query

from backend.comparisons.groups import fields_named
from backend.comparisons.selection import AtStep, GroupBy, RunIds, missing_from, selected
from backend.comparisons.statistics import Center
from backend.database.engine import Db
from backend.database.tables import Run
from backend.errors import FieldError, Invalid
from backend.figures import service
from backend.figures.drawing import Look
from backend.figures.groups import Band, Grouping
from backend.figures.growth import LONGEST_CURSOR, since
from backend.figures.schemas import Figure, FigureName
from backend.metrics.curves import Window
from backend.metrics.schemas import MAX_BUCKETS, NAME_PATTERN, Axis
from workers.contract.metrics import EPISODE_RETURN
from workers.contract.values import Id

router = APIRouter(tags=["figures"])


@dataclass(frozen=True)
class FigureQuery:
    """What every figure may be asked for: its runs, its axes, the part to show, and how smooth."""

    runs: RunIds
    x: Axis = "step"
    low: Annotated[float, Query(alias="from", description="Where the x axis begins; seconds where it is time.")] = -inf
    high: Annotated[float, Query(alias="to", description="Where the x axis ends; seconds where it is time.")] = inf
    smoothing: Annotated[
        float,
        Query(ge=0, le=0.99, description="Weight of the past, the same at any zoom."),
    ] = 0.0
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 400
    x_log: bool = False
    y_log: bool = False
    after: Annotated[
        str | None, Query(description="Cursor of the last answer to the same.", max_length=LONGEST_CURSOR)
    ] = None

    @property
    def look(self) -> Look:
        """How the curves are to be shown."""
        return Look(self.x, self.x_log, self.y_log)

    @property
    def window(self) -> Window:
        """What part of each series is to be read."""
        return Window(self.x, self.low, self.high, self.buckets, self.x_log)


Asked = Annotated[FigureQuery, Depends()]
EvaluationId = Annotated[Id, Query(description="Number of an evaluation.")]


@router.get("/figures")
def list_figures() -> list[FigureName]:
    """The figures that there are."""
    return service.FIGURES


@router.get("/figures/curves")
def draw_curves(
    db: Db,
    asked: Asked,
    metric: Annotated[str, Query(pattern=NAME_PATTERN)] = EPISODE_RETURN,
    ancestry: Annotated[bool, Query(description="Before each fork, draw what it went on from; not by time.")] = False,
    group: Annotated[
        Literal["seed", "none"], Query(description="Draw runs that differ in their seed alone as their mean.")
    ] = "none",
    band: Annotated[
        Band, Query(description="Around the line: all runs, its standard error, or its 95 % bootstrap interval.")
    ] = "bootstrap",
    center: Annotated[
        Center, Query(description="What a group's line is: its mean, or the mean of its middle half (rliable's IQM).")
    ] = "mean",
    seeds: Annotated[bool, Query(description="Draw each run of a group too, as a thin line.")] = False,
    group_by: GroupBy = "",
) -> Figure:
    """One metric of some runs: smoothed lines over the faint unsmoothed ones and a band from minimum to maximum."""
    with db.read() as session:
        runs = selected(session, asked.runs)
        by = fields_named(group_by, runs)
        grouping = Grouping(band, center, by, seeds) if by or group == "seed" else None
        figure = service.curves(
            session, runs, metric, asked.look, asked.window, asked.smoothing, ancestry=ancestry, grouping=grouping
        )
    return since(_without(figure, runs, asked.runs), asked.after)


@router.get("/figures/profile")
def draw_profile(
    db: Db,
    runs: RunIds,
    at: AtStep = None,
    group_by: GroupBy = "",
) -> Figure:
    """The performance profile of settings over seeds: what share of their runs scores above which return."""
    with db.read() as session:
        named = selected(session, runs)
        figure = service.score_profile(session, named, at, fields_named(group_by, named))
    return since(_without(figure, named, runs), None)


@router.get("/figures/sample-efficiency")
def draw_efficiency(
    db: Db,
    runs: RunIds,
    center: Annotated[Center, Query(description="The mean over games, or the interquartile mean of all runs.")] = "iqm",
    group_by: GroupBy = "",
) -> Figure:
    """Scores over runs and games by step; without `group_by`, runs that differ in seed and game alone are one group."""
    with db.read() as session:
        named = selected(session, runs)
        figure = service.sample_efficiency(session, named, center, fields_named(group_by, named))
    return since(_without(figure, named, runs), None)


@router.get("/figures/together")
def draw_together(
    db: Db,
    asked: Asked,
    metrics: Annotated[str, Query(description="Names separated by commas.", max_length=1_000)],
    shares: Annotated[bool, Query(description="Stack what each metric is of their sum.")] = False,
) -> Figure:
    """Some metrics of one run in one chart."""
    names = metrics.split(",")
    if not all(re.fullmatch(NAME_PATTERN, name) for name in names):
        raise Invalid(FieldError(field="metrics", message="name metrics as metrics=ga3c/agents,ga3c/trainers"))
    with db.read() as session:
        run = _only(selected(session, asked.runs))
        wanted = dict.fromkeys(names)
        figure = service.together(session, run, wanted, asked.look, asked.window, asked.smoothing, shares=shares)
    return since(figure, asked.after)


@router.get("/figures/evaluations")
def draw_evaluations(db: Db, asked: Asked) -> Figure:
    """Scores of one run's evaluations over training, with their 95 % intervals, upon the return in training."""
    if asked.x == "time":
        raise Invalid(FieldError(field="x", message="evaluations are placed by step, frames or epoch"))
    with db.read() as session:
        run = _only(selected(session, asked.runs))
        figure = service.evaluations(session, run, asked.look, asked.window, asked.smoothing)
    return since(figure, asked.after)


@router.get("/figures/evaluation-scores")
def draw_evaluation_scores(db: Db, evaluation: EvaluationId) -> Figure:
    """How many episodes of an evaluation came to which score."""
    with db.read() as session:
        return since(service.evaluation_scores(session, evaluation), None)


def _without(figure: Figure, found: Sequence[Run], written: str) -> Figure:
    """Return the figure with the numbers of the named runs that do not exist."""
    return figure.model_copy(update={"missing": missing_from(found, written)})


def _only(runs: Sequence[Run]) -> Run:
    run, *others = runs
    if others:
        raise Invalid(FieldError(field="runs", message="name one run: this figure is of one"))
    return run

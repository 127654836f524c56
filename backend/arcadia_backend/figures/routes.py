"""Routes of figures. The backend builds them; a browser or a notebook draws them."""

import re
from collections.abc import Sequence
from math import inf
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query

from arcadia_backend.colors import own_strokes, strokes
from arcadia_backend.comparisons.groups import parse_group_fields
from arcadia_backend.comparisons.routes import AtStep, GroupBy, RunIds, load_runs, missing_run_ids
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.figures.drawing import Figure, Look, add_cursor
from arcadia_backend.figures.evaluation_figures import Measure, draw_calibration, draw_calibrations, draw_evaluations
from arcadia_backend.figures.groups import Band, Grouping, draw_curves, draw_percentiles
from arcadia_backend.figures.kinds import FIGURES, FigureKind, FigureQuery, figure_route
from arcadia_backend.figures.metric_figures import draw_metric_by_metric, draw_scatter, draw_together
from arcadia_backend.figures.run_figures import draw_action_shares, draw_efficiency, find_tracks
from arcadia_backend.figures.score_figures import draw_episode_histogram, draw_evaluation_scores, draw_profile
from arcadia_backend.metrics.queries import Window
from arcadia_backend.metrics.reading import MAX_BUCKETS, NAME_PATTERN, Axis, split_names
from arcadia_backend.runs.expressions.parsing import MAX_LENGTH
from arcadia_workers.contract.inference.samples import Center
from arcadia_workers.contract.metrics import EPISODE_RETURN
from arcadia_workers.contract.values import Id, Text

router = APIRouter(tags=["figures"])


CurvesQuery = Annotated[FigureQuery, Depends()]
FirstStep = Annotated[float, Query(alias="from", description="First step of training to include.")]
LastStep = Annotated[float, Query(alias="to", description="Last step of training to include.")]
MetricName = Annotated[str, Query(pattern=NAME_PATTERN)]
RunNumber = Annotated[
    Text,
    Query(
        max_length=MAX_LENGTH,
        description="A number of each run: a setting, a result, a metric or an expression, such as `learning_rate`, "
        "`best_return` or `best_return / hours`.",
    ),
]
EvaluationId = Annotated[Id, Query(description="Evaluation ID.")]
CalibrationId = Annotated[Id, Query(description="Calibration ID.")]


@router.get("/figures")
def list_figures() -> list[FigureKind]:
    """List the figures that the API can draw."""
    return FIGURES


@figure_route(
    router, FigureKind(name="curves", title="A metric of several runs during training", label="Curve of a metric")
)
def read_curves(
    db: Db,
    query: CurvesQuery,
    metric: Annotated[str, Query(pattern=NAME_PATTERN)] = EPISODE_RETURN,
    ancestry: Annotated[bool, Query(description="Draw the ancestors of forks too. Ignored on the time axis.")] = False,
    group: Annotated[
        Literal["seed", "none"], Query(description="Draw runs that differ only in their seed as one line.")
    ] = "none",
    band: Annotated[
        Band,
        Query(
            description="Band around a group's line: all runs, one standard error, or the 95 % interval: `bootstrap`. "
            "Around a mean, that is Student's t-interval."
        ),
    ] = "bootstrap",
    center: Annotated[
        Center, Query(description="A group's line: its mean, or its interquartile mean (rliable's IQM).")
    ] = "mean",
    seeds: Annotated[bool, Query(description="Also draw each run of a group as a thin line.")] = False,
    group_by: GroupBy = "",
    colors: Annotated[
        Literal["chart", "run"],
        Query(description="Color lines by their place in the chart, or each run as lists do. Ignored for groups."),
    ] = "chart",
) -> Figure:
    """Return one metric of some runs: smoothed lines over the faint raw ones, in a band from minimum to maximum.

    More than 100 lines are drawn as their median, in bands of 25 to 75 and of 10 to 90 percent.
    """
    with db.read() as session:
        runs = load_runs(session, query.runs)
        by = parse_group_fields(group_by, runs)
        grouping = Grouping(band, center, by, seeds) if by or group == "seed" else None
        styles = (own_strokes if colors == "run" else strokes)([run.id for run in runs])
        figure = draw_curves(
            session,
            runs,
            metric,
            query.look,
            query.window,
            query.smoothing,
            ancestry=ancestry,
            grouping=grouping,
            styles=styles,
        )
    return add_cursor(_add_missing(figure, runs, query.runs), query.after)


@figure_route(
    router,
    FigureKind(
        name="together",
        title="Several metrics of a run during training, as lines or shares",
        label="Several metrics",
        one_run=True,
        in_editors=False,
    ),
)
def read_together(
    db: Db,
    query: CurvesQuery,
    metrics: Annotated[str, Query(description="Names separated by commas.", max_length=1_000)],
    shares: Annotated[bool, Query(description="Stack each metric as a share of their sum.")] = False,
) -> Figure:
    """Return some metrics of one run in one chart."""
    names = split_names(metrics, "metrics")
    if not names or not all(re.fullmatch(NAME_PATTERN, name) for name in names):
        raise Invalid(FieldError(field="metrics", message="list names such as ga3c/agents,ga3c/trainers"))
    with db.read() as session:
        run = _require_one(load_runs(session, query.runs))
        wanted = dict.fromkeys(names)
        figure = draw_together(session, run, wanted, query.look, query.window, query.smoothing, shares=shares)
    return add_cursor(figure, query.after)


@figure_route(
    router,
    FigureKind(
        name="percentiles",
        title="Percentiles of a metric over seeds during training, by setting",
        label="Percentiles over seeds",
        heading="{y}, percentiles",
    ),
)
def read_percentiles(db: Db, query: CurvesQuery, metric: MetricName = EPISODE_RETURN, group_by: GroupBy = "") -> Figure:
    """Return the percentiles of one metric over seeds: the median in bands of 25 to 75 and of 10 to 90 percent."""
    with db.read() as session:
        runs = load_runs(session, query.runs)
        by = parse_group_fields(group_by, runs)
        figure = draw_percentiles(session, runs, metric, query.look, query.window, query.smoothing, by)
    return add_cursor(_add_missing(figure, runs, query.runs), query.after)


@figure_route(
    router,
    FigureKind(
        name="metric-by-metric",
        title="A metric of several runs against another metric",
        label="Metric against metric",
        heading="{y} by {x}",
        axis="metric:{x_metric}",
    ),
)
def read_metric_by_metric(
    db: Db,
    runs: RunIds,
    x_metric: MetricName,
    y_metric: MetricName = EPISODE_RETURN,
    low: FirstStep = -inf,
    high: LastStep = inf,
    smoothing: Annotated[float, Query(ge=0, le=0.99, description="Weight of the past.")] = 0.0,
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 100,
    x_log: bool = False,
    y_log: bool = False,
    clip: Annotated[bool, Query(description="Choose the range of the y axis without outliers.")] = False,
) -> Figure:
    """Return one metric of some runs against another metric at the same steps."""
    window, look = Window("step", low, high, buckets), Look("step", x_log, y_log, clip)
    with db.read() as session:
        loaded = load_runs(session, runs)
        figure = draw_metric_by_metric(session, loaded, (x_metric, y_metric), look, window, smoothing)
    return add_cursor(_add_missing(figure, loaded, runs), None)


@figure_route(
    router,
    FigureKind(
        name="scatter",
        title="One point for each run: a setting or result against another one",
        label="One point per run",
        heading="{y} by {x}",
        axis="run:{x}",
        empty="None of these runs has both values yet. Choose other values, or wait for results.",
    ),
)
def read_scatter(
    db: Db,
    runs: RunIds,
    x: RunNumber,
    y: RunNumber = "best_return",
    x_log: bool = False,
    y_log: bool = False,
    clip: Annotated[bool, Query(description="Choose the range of the y axis without outliers.")] = False,
) -> Figure:
    """Return one point for each run: a setting, a result or an expression against another one."""
    with db.read() as session:
        loaded = load_runs(session, runs)
        figure = draw_scatter(session, loaded, x, y, Look("step", x_log, y_log, clip))
    return add_cursor(_add_missing(figure, loaded, runs), None)


@figure_route(
    router,
    FigureKind(
        name="episode-histogram",
        title="Histogram of the returns of training episodes, by setting",
        label="Returns of episodes",
        heading="Returns of episodes",
        axis="return",
        empty="No finished episodes yet.",
    ),
)
def read_episode_histogram(
    db: Db, runs: RunIds, low: FirstStep = -inf, high: LastStep = inf, group_by: GroupBy = ""
) -> Figure:
    """Return the histogram of the returns of training episodes, as shares if there are several groups of runs."""
    with db.read() as session:
        loaded = load_runs(session, runs)
        figure = draw_episode_histogram(session, loaded, low, high, parse_group_fields(group_by, loaded))
    return add_cursor(_add_missing(figure, loaded, runs), None)


@figure_route(
    router,
    FigureKind(
        name="action-shares",
        title="Share of each action in the replays of a run, by checkpoint",
        label="Actions in replays",
        axis="step",
        one_run=True,
        follows_files=True,
        empty="No actions to count yet. They come from the replays that a run records with its checkpoints.",
    ),
)
def read_action_shares(db: Db, runs: RunIds) -> Figure:
    """Return a heat map of the share of each action in the recorded replays of one run, by checkpoint."""
    with db.read() as session:
        files = find_tracks(session, _require_one(load_runs(session, runs)))
    return add_cursor(draw_action_shares(files), None)


@figure_route(
    router,
    FigureKind(
        name="evaluations",
        title="Evaluation scores of a run during training",
        label="Evaluations of a run",
        one_run=True,
        follows_files=True,
    ),
)
def read_evaluations(db: Db, query: CurvesQuery) -> Figure:
    """Return the evaluation scores of one run with 95% intervals, over its training return."""
    _refuse_time(query.x, "evaluations")
    with db.read() as session:
        run = _require_one(load_runs(session, query.runs))
        figure = draw_evaluations(session, run, query.look, query.window, query.smoothing)
    return add_cursor(figure, query.after)


@figure_route(
    router,
    FigureKind(
        name="sample-efficiency",
        title="Scores over runs and games by step, by setting",
        label="Sample efficiency",
        axis="step",
    ),
)
def read_sample_efficiency(
    db: Db,
    runs: RunIds,
    center: Annotated[Center, Query(description="Mean over games, or interquartile mean of all runs.")] = "iqm",
    group_by: GroupBy = "",
) -> Figure:
    """Return scores over runs and games by step. By default, runs that differ only in seed and game are one group."""
    with db.read() as session:
        loaded = load_runs(session, runs)
        figure = draw_efficiency(session, loaded, center, parse_group_fields(group_by, loaded))
    return add_cursor(_add_missing(figure, loaded, runs), None)


@figure_route(
    router,
    FigureKind(
        name="profile", title="Share of runs above each return, by setting", label="Performance profile", axis="return"
    ),
)
def read_profile(
    db: Db,
    runs: RunIds,
    at: AtStep = None,
    group_by: GroupBy = "",
) -> Figure:
    """Return the performance profile of settings: the share of their runs above each return."""
    with db.read() as session:
        loaded = load_runs(session, runs)
        figure = draw_profile(session, loaded, at, parse_group_fields(group_by, loaded))
    return add_cursor(_add_missing(figure, loaded, runs), None)


@figure_route(
    router,
    FigureKind(
        name="evaluation-scores",
        title="Episode scores of an evaluation",
        label="Scores of an evaluation",
        axis="score",
        in_editors=False,
    ),
)
def read_evaluation_scores(db: Db, evaluation: EvaluationId) -> Figure:
    """Return the histogram of an evaluation's episode scores."""
    with db.read() as session:
        return add_cursor(draw_evaluation_scores(session, evaluation), None)


@figure_route(
    router,
    FigureKind(
        name="calibrations",
        title="Error of the critics of several runs during training",
        label="Error of the critic",
        in_editors=False,
        follows_files=True,
    ),
)
def read_calibrations(db: Db, query: CurvesQuery, measure: Measure = "bias") -> Figure:
    """Return an error of the critics of some runs during training, by their calibrations."""
    _refuse_time(query.x, "calibrations")
    with db.read() as session:
        runs = load_runs(session, query.runs)
        figure = draw_calibrations(session, runs, measure, query.look, query.window)
    return add_cursor(_add_missing(figure, runs, query.runs), query.after)


@figure_route(
    router,
    FigureKind(
        name="calibration",
        title="Values of a critic against the returns of futures",
        label="Calibration of the critic",
        axis="value",
        in_editors=False,
    ),
)
def read_calibration_plot(db: Db, calibration: CalibrationId) -> Figure:
    """Return the mean returns of futures against the values of a critic."""
    with db.read() as session:
        figure = draw_calibration(session, calibration)
    return add_cursor(figure, None)


def _refuse_time(axis: Axis, results: str) -> None:
    if axis == "time":
        raise Invalid(FieldError(field="x", message=f"use step, frames or epoch: {results} have no training time"))


def _add_missing(figure: Figure, runs: Sequence[Run], requested: str) -> Figure:
    """Return the figure with the requested runs that do not exist."""
    return figure.model_copy(update={"missing": missing_run_ids(runs, requested)})


def _require_one(runs: Sequence[Run]) -> Run:
    run, *others = runs
    if others:
        raise Invalid(FieldError(field="runs", message="name exactly one run for this figure"))
    return run

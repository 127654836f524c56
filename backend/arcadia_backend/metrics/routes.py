"""Routes of metrics and their names."""

from math import inf
from typing import Annotated

from fastapi import APIRouter, Query

from arcadia_backend.database.engine import Db
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics import queries
from arcadia_backend.metrics.queries import Window
from arcadia_backend.metrics.reading import MAX_BUCKETS, NAME_PATTERN, Axis, RunMetrics, Sparkline, split_names
from arcadia_backend.web.lookup import PathRun
from arcadia_workers.contract.metrics import CATALOG, EPISODE_RETURN, MetricSection
from arcadia_workers.contract.values import Id

router = APIRouter(tags=["metrics"])


@router.get("/runs/{run_id}/metrics")
def read_metrics(
    db: Db,
    run: PathRun,
    names: Annotated[
        str, Query(description="Names separated by commas. Quote a name with a comma. All if empty.", max_length=10_000)
    ] = "",
    x: Axis = "step",
    low: Annotated[float, Query(alias="from", description="Start of the range on the x axis.")] = -inf,
    high: Annotated[float, Query(alias="to", description="End of the range on the x axis.")] = inf,
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 500,
    after: Annotated[str | None, Query(description="Cursor of an earlier response.", max_length=4_000)] = None,
) -> RunMetrics:
    """Return points of some metrics.

    If more points are in the range than `buckets`, return the minimum, maximum, mean, last value and count of each
    bucket.
    """
    wanted = split_names(names)
    if len(wanted) > queries.MAX_NAMES:
        raise Invalid(FieldError(field="names", message=f"at most {queries.MAX_NAMES} names per request"))
    with db.read() as session:
        return queries.run_metrics(session, run, wanted, Window(x, low, high, buckets), after)


@router.get("/sparklines")
def read_sparklines(
    db: Db,
    run: Annotated[list[Id], Query(min_length=1, max_length=100, description="Run ids.")],
    metric: Annotated[str, Query(pattern=NAME_PATTERN)] = EPISODE_RETURN,
) -> list[Sparkline]:
    """Return a small curve of a metric for each of these runs that has reported it."""
    with db.read() as session:
        return queries.read_sparklines(session, run, metric)


@router.get("/runs/{run_id}/metric-names")
def read_metric_names(db: Db, run: PathRun) -> list[str]:
    """List the metrics that the run has reported."""
    with db.read() as session:
        return queries.metric_names(session, run.id)


@router.get("/metric-catalog")
def read_metric_catalog() -> tuple[MetricSection, ...]:
    """Return the title and unit of every metric, and which metrics share a chart, in display order."""
    return CATALOG


@router.get("/metric-names")
def read_all_metric_names(db: Db) -> list[str]:
    """List the metrics that any run has reported."""
    with db.read() as session:
        return queries.all_metric_names(session)

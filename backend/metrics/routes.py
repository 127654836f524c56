"""Metrics of a run."""

from math import inf
from typing import Annotated

from fastapi import APIRouter, Query

from backend.database.engine import Db
from backend.errors import FieldError, Invalid
from backend.metrics import queries
from backend.metrics.curves import Window
from backend.metrics.schemas import MAX_BUCKETS, Axis, RunMetrics
from backend.web.lookup import PathRun
from workers.contract.metrics import CATALOGUE, MetricSection

router = APIRouter(tags=["metrics"])


@router.get("/runs/{run_id}/metrics")
def read_metrics(
    db: Db,
    run: PathRun,
    names: Annotated[str, Query(description="Names separated by commas; all when empty.", max_length=10_000)] = "",
    x: Axis = "step",
    low: Annotated[float, Query(alias="from", description="Where the axis begins.")] = -inf,
    high: Annotated[float, Query(alias="to", description="Where the axis ends.")] = inf,
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 500,
    after: Annotated[str | None, Query(description="Cursor of an earlier answer.", max_length=4_000)] = None,
) -> RunMetrics:
    """Points of some metrics: every one where they fit, else minimum, maximum, mean, last and count of each bucket."""
    wanted = [name for name in names.split(",") if name]
    if len(wanted) > queries.MAX_NAMES:
        raise Invalid(FieldError(field="names", message=f"at most {queries.MAX_NAMES} at once"))
    with db.read() as session:
        return queries.run_metrics(session, run, wanted, Window(x, low, high, buckets), after)


@router.get("/runs/{run_id}/metric-names")
def read_metric_names(db: Db, run: PathRun) -> list[str]:
    """Names of the metrics that the run has reported."""
    with db.read() as session:
        return queries.metric_names(session, run.id)


@router.get("/metric-catalogue")
def read_metric_catalogue() -> tuple[MetricSection, ...]:
    """What every metric is called, what it counts in, and which are drawn together, in the order to show them."""
    return CATALOGUE


@router.get("/metric-names")
def read_all_metric_names(db: Db) -> list[str]:
    """Names of the metrics that any run has reported."""
    with db.read() as session:
        return queries.all_metric_names(session)

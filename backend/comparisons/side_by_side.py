"""Runs side by side: their configurations field by field, and the results of each."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import Dash, Stroke
from backend.comparisons.groups import fields_named, groups_of, strokes_of
from backend.comparisons.selection import GroupBy, MissingRuns, RunIds, missing_from, selected
from backend.database import tables
from backend.database.engine import Db
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import training_seconds
from backend.runs.differences import Difference, differences, field_titles
from backend.runs.labels import labels
from backend.runs.schemas import Run
from backend.runs.view import shown
from backend.web.json_numbers import JsonNumber

router = APIRouter(tags=["compare"])

Grouped = Annotated[bool, Query(description="Return one color for each group, instead of one for each run.")]


class MetricSummary(BaseModel):
    """Last value, maximum and recent mean of a metric; NaN and the infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    last: JsonNumber | None
    max: JsonNumber | None
    mean_last_100: JsonNumber | None


class RunSummary(BaseModel):
    """The results of one run."""

    run_id: int
    metrics: dict[str, MetricSummary]
    episodes: int
    wall_seconds: float


class ComparedRun(Run):
    """A run in a comparison, with its label, color and dash in the figures of the same runs."""

    label: str
    dash: Dash


class Comparison(BaseModel):
    """Runs side by side."""

    runs: list[ComparedRun]
    differences: list[Difference]
    groups: list[list[int]] = Field(
        description="Numbers of runs that are one group, which curves with the same `group_by` draw as one."
    )
    summary: list[RunSummary]
    missing: MissingRuns = []


@router.get("/compare")
def compare_runs(db: Db, runs: RunIds, group_by: GroupBy = "", grouped: Grouped = False) -> Comparison:
    """Differences of the runs' configurations, and the results of each run."""
    with db.read() as session:
        named = selected(session, runs)
        configs = {run.id: run.config for run in named}
        groups = groups_of(named, fields_named(group_by, named))
        return Comparison(
            runs=_compared(session, named, strokes_of(groups if grouped else [[run] for run in named])),
            differences=differences(configs, field_titles()),
            groups=[[run.id for run in group] for group in groups],
            summary=_summary(session, named),
            missing=missing_from(named, runs),
        )


def _compared(session: Session, runs: Sequence[tables.Run], drawn: Mapping[int, Stroke]) -> list[ComparedRun]:
    called = labels(runs)
    return [
        ComparedRun.model_validate(
            run.model_dump() | {"label": called[run.id], "color": drawn[run.id].color, "dash": drawn[run.id].dash}
        )
        for run in shown(session, runs)
    ]


def _summary(session: Session, runs: Sequence[tables.Run]) -> list[RunSummary]:
    ids = [run.id for run in runs]
    columns = (
        MetricSeries.run_id,
        MetricSeries.name,
        MetricSeries.last,
        MetricSeries.max,
        MetricSeries.recent_mean,
    )
    metrics: dict[int, dict[str, MetricSummary]] = {run_id: {} for run_id in ids}
    for run_id, name, last, largest, mean in session.execute(
        select(*columns).where(MetricSeries.run_id.in_(ids)).order_by(MetricSeries.name)
    ):
        metrics[run_id][name] = MetricSummary(last=last, max=largest, mean_last_100=mean)
    seconds = training_seconds(session, ids)
    return [
        RunSummary(run_id=run.id, metrics=metrics[run.id], episodes=run.episodes, wall_seconds=seconds[run.id])
        for run in runs
    ]

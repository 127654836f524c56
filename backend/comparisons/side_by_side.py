"""Comparison of runs side by side: configuration fields and results."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import Stroke
from backend.comparisons.differences import field_differences, provenance_differences
from backend.comparisons.groups import strokes_by_run
from backend.comparisons.labels import run_labels
from backend.comparisons.schemas import ComparedRun, Comparison, MetricSummary, RunSummary
from backend.database.tables import Run
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import training_seconds
from backend.provenance.queries import latest_provenances
from backend.runs.names import field_titles
from backend.runs.queries import to_schemas


def compare(
    session: Session, runs: Sequence[Run], groups: Sequence[Sequence[Run]], *, color_groups: bool
) -> Comparison:
    """Return the runs with their differences and results."""
    strokes = strokes_by_run(groups if color_groups else [[run] for run in runs])
    return Comparison(
        runs=_to_compared_runs(session, runs, strokes),
        differences=field_differences({run.id: run.comparable_config for run in runs}, field_titles()),
        provenance=provenance_differences(latest_provenances(session, [run.id for run in runs])),
        groups=[[run.id for run in group] for group in groups],
        summary=_summarize(session, runs),
    )


def _to_compared_runs(session: Session, runs: Sequence[Run], strokes: Mapping[int, Stroke]) -> list[ComparedRun]:
    labels = run_labels(runs)
    return [
        ComparedRun.model_validate(
            run.model_dump() | {"label": labels[run.id], "color": strokes[run.id].color, "dash": strokes[run.id].dash}
        )
        for run in to_schemas(session, runs)
    ]


def _summarize(session: Session, runs: Sequence[Run]) -> list[RunSummary]:
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

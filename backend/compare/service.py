"""Runs side by side: their configurations field by field, and what each came to."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import models
from backend.compare.schemas import Comparison, Difference, MetricSummary, RunSummary
from backend.compare.selection import selected
from backend.metrics.curves import training_seconds
from backend.metrics.models import MetricSeries
from backend.runs.view import shown
from workers.trainer.config import config_adapter

ABSENT = object()


def compare(session: Session, written_runs: str) -> Comparison:
    """Compare the named runs."""
    runs = selected(session, written_runs)
    return Comparison(
        runs=shown(session, runs),
        differences=differences({run.id: run.config for run in runs}, field_titles()),
        summary=_summary(session, runs),
    )


def differences(configs: Mapping[int, Mapping[str, Any]], titles: Mapping[str, str]) -> list[Difference]:
    """Every field that any run has, in the order of the titles; a run without it makes the field differ."""
    present = dict.fromkeys(field for config in configs.values() for field in config)
    fields = dict.fromkeys([*(field for field in titles if field in present), *present])
    return [
        Difference(
            field=field,
            title=titles.get(field, field),
            values={run_id: config[field] for run_id, config in configs.items() if field in config},
            same=_all_same([config.get(field, ABSENT) for config in configs.values()]),
        )
        for field in fields
    ]


def _all_same(values: Sequence[Any]) -> bool:
    # To Python 1 is True, to a reader of a configuration it is not.
    return all(value == values[0] and isinstance(value, bool) == isinstance(values[0], bool) for value in values)


def field_titles() -> dict[str, str]:
    """Titles of the configuration's fields, as the launch form shows them."""
    schema = config_adapter.json_schema()
    models_of = [schema, *schema.get("$defs", {}).values()]
    return {
        name: str(field.get("title", name))
        for model in models_of
        for name, field in model.get("properties", {}).items()
    }


def _summary(session: Session, runs: Sequence[models.Run]) -> list[RunSummary]:
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

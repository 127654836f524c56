"""Pages of the run list, which leave out what a table does not show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.availability import NO_CHECKPOINTS, count_checkpoints
from backend.database import tables
from backend.errors import FieldError, Invalid
from backend.metrics.models import MetricSeries
from backend.metrics.visibility import training_seconds
from backend.runs import schemas
from backend.runs.computed import computed_values
from backend.runs.expressions.nodes import Value
from backend.runs.list_query import RunRows
from backend.runs.queries import find_studies, shown_fields, state_reasons
from backend.runs.states import to_actions

DETAILS = ("config", "notes", "study", "trained_seconds", "versions", "command", "reported_key")
CONFIG_PREFIX = "config."


@dataclass(frozen=True)
class Details:
    """The fields to include for each run. `settings` are single fields of the configuration."""

    fields: frozenset[str]
    settings: frozenset[str]


def parse_details(names: Sequence[str]) -> Details:
    """Return the details that these names select. Raise Invalid if there is no such field."""
    settings = frozenset(name.removeprefix(CONFIG_PREFIX) for name in names if name.startswith(CONFIG_PREFIX))
    fields = frozenset(name for name in names if not name.startswith(CONFIG_PREFIX))
    if unknown := sorted(fields.difference(DETAILS)):
        message = f"{unknown[0]!r} cannot be included; use config.FIELD or one of {', '.join(DETAILS)}"
        raise Invalid(FieldError(field="include", message=message))
    return Details(fields | {"config"} if settings else fields, frozenset() if "config" in fields else settings)


def to_page(
    session: Session, rows: RunRows, metrics: Sequence[str], details: Details, columns: Mapping[str, Value]
) -> schemas.RunPage:
    """Return one page of the list, with these metrics, details and computed columns of each run."""
    reasons = state_reasons(session, rows.runs)
    extents = _extents(session, [run.id for run in rows.runs], metrics) if metrics else {}
    included = _read_details(session, rows.runs, details)
    if columns:
        for run_id, values in computed_values(session, [run.id for run in rows.runs], columns).items():
            included[run_id]["computed"] = values
    counts = count_checkpoints(session, [run.id for run in rows.runs])
    actions: dict[schemas.RunActions, int] = {}
    items = []
    for run in rows.runs:
        fields = shown_fields(run, reasons[run.id])
        if run.failure_message is not None:
            fields["failure"] = schemas.FailureMessage(message=run.failure_message)
        fields["actions"] = actions.setdefault(to_actions(run, counts.get(run.id, NO_CHECKPOINTS)), len(actions))
        fields["metrics"] = extents.get(run.id)
        shown = {name: value for name, value in fields.items() if value is not None and value != []}
        items.append(schemas.ListedRun(**shown, **included[run.id]))
    return schemas.RunPage(items=items, actions=list(actions), next_cursor=rows.next_cursor, total=rows.total)


def _read_details(session: Session, runs: Sequence[tables.Run], details: Details) -> dict[int, dict[str, Any]]:
    """Return the included fields of each run. They are present even if they are empty."""
    ids = [run.id for run in runs]
    columns = details.fields.intersection(("notes", "versions", "command", "reported_key"))
    found = {run.id: {name: getattr(run, name) for name in columns} for run in runs}
    if "config" in details.fields:
        for run in runs:
            found[run.id]["config"] = {
                name: value for name, value in run.config.items() if name in details.settings or not details.settings
            }
    if "study" in details.fields:
        studies = find_studies(session, ids)
        for run_id in ids:
            found[run_id]["study"] = studies.get(run_id)
    if "trained_seconds" in details.fields:
        for run_id, seconds in training_seconds(session, ids).items():
            found[run_id]["trained_seconds"] = seconds
    return found


def _extents(
    session: Session, run_ids: Sequence[int], metrics: Sequence[str]
) -> dict[int, dict[str, schemas.MetricExtent]]:
    """Return the last, min and max value of each metric, by run and metric."""
    columns = (MetricSeries.run_id, MetricSeries.name, MetricSeries.last, MetricSeries.min, MetricSeries.max)
    wanted = select(*columns).where(MetricSeries.run_id.in_(run_ids), MetricSeries.name.in_(metrics))
    found: dict[int, dict[str, schemas.MetricExtent]] = {}
    for row in session.execute(wanted):
        found.setdefault(row.run_id, {})[row.name] = schemas.MetricExtent.model_validate(row)
    return found

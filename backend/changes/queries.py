"""Reads of changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.changes import schemas
from backend.database.tables import Run, RunChange
from workers.contract.changes import RequestedChange


def list_changes(session: Session, run_id: int) -> Sequence[RunChange]:
    """Return the changes of a run in order."""
    query = select(RunChange).where(RunChange.run_id == run_id)
    return session.scalars(query.order_by(RunChange.number)).all()


def read_changes(session: Session, run: Run) -> schemas.RunChanges:
    """Return the changes of a run, and the configuration before them."""
    changes = list_changes(session, run.id)
    return schemas.RunChanges(
        items=[schemas.RunChange.model_validate(change) for change in changes],
        start_config=start_config(run.config, changes),
    )


def start_config(config: Mapping[str, Any], changes: Sequence[RunChange]) -> dict[str, Any]:
    """Return a run's configuration with its applied changes undone."""
    applied = [change for change in changes if change.applied_step is not None]
    # A later one was requested with the earlier one's value, but a trainer may have applied them in another order.
    applied.sort(key=lambda change: (change.attempt or 0, change.applied_at, change.number))
    before = dict(config)
    for change in reversed(applied):
        before |= change.previous
    return before


def list_waiting(session: Session, run_id: int) -> list[RunChange]:
    """Return the changes of a run that no trainer has reported as applied."""
    query = select(RunChange).where(RunChange.run_id == run_id, RunChange.applied_at.is_(None))
    return [*session.scalars(query.order_by(RunChange.number))]


def list_requested(session: Session, run_id: int) -> list[RequestedChange]:
    """Return the waiting changes of a run for its trainer."""
    return [RequestedChange(number=row.number, fields=row.fields) for row in list_waiting(session, run_id)]

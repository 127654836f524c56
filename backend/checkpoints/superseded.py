"""Superseded checkpoints: a later attempt resumed before their step and trained those steps again."""

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.database.tables import Attempt, Checkpoint


def is_superseded() -> ColumnElement[bool]:
    """Return the SQL condition that a later attempt resumed before the checkpoint of a query."""
    later = (Attempt.run_id == Checkpoint.run_id, Attempt.attempt > Checkpoint.attempt)
    return select(Attempt.attempt).where(*later, Attempt.resumed_step < Checkpoint.step).correlate(Checkpoint).exists()


def superseded_ids(session: Session, run_id: int) -> set[int]:
    """Return the ids of the superseded checkpoints of a run."""
    return set(session.scalars(select(Checkpoint.id).where(Checkpoint.run_id == run_id, is_superseded())))

"""Checkpoints of a line that their run left: it went back behind them, and trained their steps again."""

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.database.tables import Attempt, Checkpoint


def superseded() -> ColumnElement[bool]:
    """Whether a later attempt went on from before the checkpoint of a query, as points of metrics are superseded."""
    of_run = (Attempt.run_id == Checkpoint.run_id, Attempt.attempt > Checkpoint.attempt)
    return select(Attempt.attempt).where(*of_run, Attempt.resumed_step < Checkpoint.step).correlate(Checkpoint).exists()


def superseded_of(session: Session, run_id: int) -> set[int]:
    """The run's checkpoints that no longer count."""
    return set(session.scalars(select(Checkpoint.id).where(Checkpoint.run_id == run_id, superseded())))

"""Rows that a path names by their numbers, or a problem that says there is no such row."""

from typing import Annotated

from fastapi import Depends, Path
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.engine import Db
from backend.database.tables import Attempt, Job, Run
from backend.errors import NotFound
from workers.contract.values import MAX_ID

PathId = Annotated[int, Path(ge=1, le=MAX_ID)]


def find_run(session: Session, run_id: int, *, lock: bool = False) -> Run:
    """The run, or a problem that says there is none; a locked row is this transaction's until it ends."""
    run = session.get(Run, run_id, with_for_update=True if lock else None)
    if run is None:
        raise NotFound(f"There is no run {run_id}.")
    return run


def find_job(session: Session, job_id: int, *, lock: bool = False) -> Job:
    """The job, or a problem that says there is none; a locked one is this transaction's until it ends.

    Its run is locked first, if it has one, so that all lock in the same order.
    """
    run_id = session.scalar(select(Job.run_id).where(Job.id == job_id))
    if lock and run_id is not None:
        find_run(session, run_id, lock=True)
    job = session.get(Job, job_id, with_for_update=True if lock else None)
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job


def last_started_attempt(session: Session, run: Run) -> Attempt | None:
    """The run's last attempt that has said where it began; None also while the next one has yet to say it."""
    if run.state == "starting":
        return None
    # An attempt that was given back before it began tells nothing.
    begun = select(Attempt).where(Attempt.run_id == run.id, Attempt.resumed_step.is_not(None))
    return session.scalar(begun.order_by(Attempt.attempt.desc()).limit(1))


def known_run(db: Db, run_id: PathId) -> Run:
    """The run that a path names, for reading; to change a run, find it inside the transaction."""
    with db.read() as session:
        return find_run(session, run_id)


PathRun = Annotated[Run, Depends(known_run)]

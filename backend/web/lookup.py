"""Lookup of runs and jobs by the ids in a path."""

from typing import Annotated

from fastapi import Depends, Path
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.engine import Db
from backend.database.tables import Attempt, Job, Run, RunOrigin
from backend.errors import Conflict, NotFound
from workers.contract.plugins.needs import missing_plugins
from workers.contract.values import MAX_ID

_ORIGINS: dict[RunOrigin, str] = {
    "reported": "a script logged it",
    "imported": "it was imported from logs",
    "agent": "it is an imported agent",
}
PathId = Annotated[int, Path(ge=1, le=MAX_ID)]


def find_run(session: Session, run_id: int, *, lock: bool = False) -> Run:
    """Return a run, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist."""
    run = session.get(Run, run_id, with_for_update=True if lock else None)
    if run is None:
        raise NotFound(f"There is no run {run_id}.")
    return run


def refuse_reported(run: Run, action: str) -> None:
    """Raise Conflict unless Arcadia trains the run. It cannot start the program of any other run."""
    if (clause := why_not_trained(run)) is not None:
        raise Conflict(f"Arcadia cannot {action} run {run.id}, because {clause}.")


def refuse_without_agent(run: Run, action: str) -> None:
    """Raise Conflict if Arcadia has no checkpoints of the run, or lacks a plug-in that made them."""
    if (clause := why_no_agent(run)) is not None:
        raise Conflict(f"Arcadia cannot {action} run {run.id}, because {clause}.")


def why_not_trained(run: Run) -> str | None:
    """Return a clause about why Arcadia cannot start the configuration of a run, or None if it can."""
    if missing := missing_plugins(run.needed_plugins):
        return missing
    if run.origin == "trained":
        return None
    return (
        f"{_ORIGINS[run.origin]}. Only runs that Arcadia trains have checkpoints and a configuration that it can start"
    )


def why_no_agent(run: Run) -> str | None:
    """Return a clause about why Arcadia cannot play the agent of a run, even with a checkpoint, or None if it can."""
    if missing := missing_plugins(run.needed_plugins):
        return missing
    return None if run.has_agent else f"{_ORIGINS[run.origin]} without checkpoints"


def find_job(session: Session, job_id: int, *, lock: bool = False) -> Job:
    """Return a job, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist.

    If the job has a run, the run is locked first, so that all transactions lock in the same order.
    """
    run_id = session.scalar(select(Job.run_id).where(Job.id == job_id))
    if lock and run_id is not None:
        find_run(session, run_id, lock=True)
    job = session.get(Job, job_id, with_for_update=True if lock else None)
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job


def last_started_attempt(session: Session, run: Run) -> Attempt | None:
    """Return the last attempt that reported its start step, or None while a newer attempt has not reported it."""
    if run.state == "starting":
        return None
    # An attempt that was released before it started has no start step.
    started = select(Attempt).where(Attempt.run_id == run.id, Attempt.resumed_step.is_not(None))
    return session.scalar(started.order_by(Attempt.attempt.desc()).limit(1))


def read_path_run(db: Db, run_id: PathId) -> Run:
    """Return the run of the path, for reading. To change a run, find it in the write transaction."""
    with db.read() as session:
        return find_run(session, run_id)


PathRun = Annotated[Run, Depends(read_path_run)]

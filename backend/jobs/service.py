"""Jobs as users and schedules ask for them; every function works inside the caller's transaction.

The caller has locked the job's run before, if it has one, so that all lock in the same order.
"""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Checkpoint, File, Job, Run
from backend.errors import Conflict
from backend.files.service import delete_files
from backend.jobs.queue import Line
from backend.live.notices import publish
from workers.contract.worker_api import JobKind, JobState

UNDER_WAY: tuple[JobState, ...] = ("queued", "running")


def ask(
    session: Session,
    run: Run | None,
    checkpoint: Checkpoint | None,
    kind: JobKind,
    parameters: dict[str, Any],
    total: int,
) -> Job:
    """Put a job into the queue; those of people who play are of no run."""
    job = Job(
        kind=kind,
        run_id=run.id if run else None,
        checkpoint_id=checkpoint.id if checkpoint else None,
        parameters=parameters,
        total=total,
        state="queued",
    )
    session.add(job)
    session.flush()
    announce(session, job)
    return job


def waiting(session: Session, run: Run, kind: JobKind) -> int:
    """Count a run's jobs of a kind that are under way."""
    of_run = select(func.count()).select_from(Job).where(Job.run_id == run.id, Job.kind == kind)
    return session.scalar(of_run.where(Job.state.in_(UNDER_WAY))) or 0


def cancel(session: Session, job: Job) -> None:
    """Cancel a job; one that a worker does is cancelled once its process has ended."""
    if job.state not in UNDER_WAY:
        raise Conflict(f"It is {job.state} already, so there is nothing to cancel.")
    job.desired = "cancel"
    if job.state == "queued":
        job.message = None  # It told why the job is back in the queue.
        end(session, job, "cancelled")
    announce(session, job)


def end(session: Session, job: Job, state: JobState, message: str | None = None) -> None:
    """Move a job on from its attempt, and tell open pages."""
    job.state, job.worker, job.lease_expires_at = state, None, None
    job.message = message or job.message
    job.finished_at = None if state in UNDER_WAY else utc_now()
    announce(session, job)


def remove(session: Session, job: Job) -> None:
    """Remove a job with all that it brought; a worker that does it hears that it is gone, and ends."""
    announce(session, job)
    delete_job_files(session, job)
    session.delete(job)
    session.flush()


def delete_job_files(session: Session, job: Job) -> None:
    """Delete the files that a job has made so far."""
    delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())


def reason(job: Job, queue: Line | None) -> str | None:
    """In plain words, why a job is in its state, or what one that waits for a worker waits for."""
    if job.state != "queued":
        return "Cancelling." if job.state == "running" and job.desired == "cancel" else job.message
    return " ".join(part for part in (job.message, queue and queue.words(job)) if part)


def announce(session: Session, job: Job) -> None:
    """Tell open pages after the commit that a job, or what it brought, has changed."""
    if job.run_id is None:
        name, notice = "play.changed", {"id": job.id}
    else:
        name, notice = "run.files", {"run_id": job.run_id}
    after_commit(session, lambda: publish(name, notice))

"""Creation, cancellation and state changes of jobs. Every function runs in the caller's transaction.

If a job has a run, the caller has locked that run first, so that all transactions lock rows in the same order.
"""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Checkpoint, File, Job, Run
from backend.errors import Conflict
from backend.files.service import delete_files
from backend.jobs.queue import JobQueue
from backend.live.notices import publish
from workers.contract.plugins.needs import needed_plugins
from workers.contract.worker_api import JobKind, JobState

UNFINISHED: tuple[JobState, ...] = ("queued", "running")


def enqueue(
    session: Session,
    run: Run | None,
    checkpoint: Checkpoint | None,
    kind: JobKind,
    parameters: dict[str, Any],
    total: int,
) -> Job:
    """Create a job in the queue. Jobs of people who play have no run and no checkpoint."""
    named = needed_plugins({"env": parameters.get("env"), "evaluation_protocol": parameters.get("protocol")})
    needed = {*named, *(run.needed_plugins.split(",") if run and run.needed_plugins else ())}
    job = Job(
        kind=kind,
        needed_plugins=",".join(sorted(needed)),
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


def count_unfinished(session: Session, run: Run, kind: JobKind) -> int:
    """Return how many jobs of a kind are queued or running for a run."""
    jobs = select(func.count()).select_from(Job).where(Job.run_id == run.id, Job.kind == kind)
    return session.scalar(jobs.where(Job.state.in_(UNFINISHED))) or 0


def check_room(session: Session, run: Run, kind: JobKind, limit: int, noun: str) -> None:
    """Raise Conflict if a run has too many unfinished jobs of a kind. `noun` names them, as a plural."""
    if count_unfinished(session, run, kind) >= limit:
        raise Conflict(f"{limit} {noun} of run {run.id} already wait. Try again when one is done.")


def remove_ended(session: Session, run: Run, kind: JobKind) -> None:
    """Delete the finished jobs of a kind of a run."""
    query = select(Job).where(Job.run_id == run.id, Job.kind == kind, Job.state.not_in(UNFINISHED)).order_by(Job.id)
    for job in session.scalars(query).all():
        remove(session, job)


def cancel(session: Session, job: Job) -> None:
    """Cancel a job. A running job becomes cancelled when its process has ended."""
    if job.state not in UNFINISHED:
        raise Conflict(f"The job is already {job.state}, so it cannot be cancelled.")
    job.desired = "cancel"
    if job.state == "queued":
        job.message = None  # It said why the job is back in the queue.
        set_state(session, job, "cancelled")
    announce(session, job)


def set_state(session: Session, job: Job, state: JobState, message: str | None = None) -> None:
    """End the current attempt of a job with a new state, and notify open pages."""
    job.state, job.worker, job.lease_expires_at = state, None, None
    job.message = message or job.message
    job.finished_at = None if state in UNFINISHED else utc_now()
    announce(session, job)


def remove(session: Session, job: Job) -> None:
    """Delete a job with its results. A worker that runs it gets 404 and ends it."""
    announce(session, job)
    delete_job_files(session, job)
    session.delete(job)
    session.flush()


def delete_job_files(session: Session, job: Job) -> None:
    """Delete the files that a job has made so far."""
    delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())


def state_reason(job: Job, queue: JobQueue | None) -> str | None:
    """Return why a job is in its state. For a queued job this includes what it waits for."""
    if job.state != "queued":
        return "Cancelling." if job.state == "running" and job.desired == "cancel" else job.message
    return " ".join(part for part in (job.message, queue and queue.wait_reason(job)) if part)


def announce(session: Session, job: Job) -> None:
    """Notify open pages after the commit that a job or its results changed."""
    if job.run_id is None or job.kind == "play":
        name, notice = "play.changed", {"id": job.id}
    else:
        name, notice = "run.files", {"run_id": job.run_id}
    after_commit(session, lambda: publish(name, notice))

"""Jobs: short tasks that a worker does beside its training, such as the evaluation of a checkpoint."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Calibration, Checkpoint, Evaluation, File, Futures, Job, Run, Worker
from backend.errors import Conflict
from backend.files.service import delete_files
from backend.live.notices import publish
from backend.web.lookup import find_run
from backend.workers import connected_workers, count_free_job_slots, missing_reason
from workers.contract.plugins.loading import needed_plugins
from workers.contract.worker_api import JobKind, JobState

# A free worker that has not claimed a job after this time is probably slowed down by other work.
EXPECTED_CLAIM_TIME = timedelta(seconds=15)
LIVE_GAMES: tuple[JobKind, ...] = ("live", "play")
# A person waits for live games, futures and start points, so they go first. Calibrations take minutes, so they go last.
_PRIORITY = case((Job.kind.in_([*LIVE_GAMES, "futures", "start_points"]), 0), (Job.kind == "calibration", 2), else_=1)
ORDER = (_PRIORITY, Job.created_at, Job.id)


@dataclass(frozen=True)
class JobQueue:
    """The ids of the waiting jobs in order, the number of free job slots, and the workers that take jobs.

    The number is None if no worker takes jobs.
    """

    free_slots: int | None
    waiting: tuple[int, ...]
    workers: tuple[Worker, ...] = ()

    def wait_reason(self, job: Job) -> str:
        """Return a sentence that says what a job waits for."""
        if self.free_slots is None:
            return "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."
        if missing := missing_reason(self.workers, job.needed_plugins, "worker that takes jobs"):
            return missing
        ahead = self.waiting.index(job.id) if job.id in self.waiting else 0
        if ahead < self.free_slots and utc_now() - job.created_at < EXPECTED_CLAIM_TIME:
            return "A worker is about to take it."
        if ahead < self.free_slots:
            return "Next in the queue. A free worker has not taken it yet. A busy host may need minutes."
        if not ahead:
            return "All workers are busy with other jobs. It starts when one of them is done."
        others = "1 other job is" if ahead == 1 else f"{ahead} other jobs are"
        return f"All workers are busy with other jobs, and {others} ahead of it in the queue."


def read_queue(session: Session) -> JobQueue:
    """Return the current job queue."""
    waiting = session.scalars(select(Job.id).where(Job.state == "queued").order_by(*ORDER)).all()
    workers = connected_workers(session, utc_now())
    takers = tuple(worker for worker in workers if worker.job_slots)
    return JobQueue(count_free_job_slots(session, takers), tuple(waiting), takers)


Row = TypeVar("Row", Evaluation, Calibration, Futures)


def find_with_job(session: Session, table: type[Row], row_id: int, *, lock: bool = False) -> tuple[Row, Job] | None:
    """Return a row and its job, or None if it does not exist. With `lock`, lock the job's run first."""
    row = session.get(table, row_id)
    job = session.get(Job, row.job_id) if row else None
    if job is not None and lock:
        find_run(session, job.require_run_id(), lock=True)
        # Both may have been deleted or changed before the lock.
        row = session.get(table, row_id, populate_existing=True)
        job = session.get(Job, job.id, populate_existing=True, with_for_update=True)
    return None if row is None or job is None else (row, job)


def row_of_job(session: Session, table: type[Row], job: Job) -> Row:
    """Return the row of a job."""
    return session.scalars(select(table).where(table.job_id == job.id)).one()


def to_stored(document: BaseModel) -> dict[str, Any]:
    """Convert a result to JSON that the database can store."""
    # Convert it through JSON text, which spells NaN and infinity as strings. PostgreSQL's JSON cannot store them.
    stored: dict[str, Any] = json.loads(document.model_dump_json())
    return stored


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

"""Which workers are connected, and which of them are free."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.engine import after_commit
from backend.database.tables import Job, Worker
from backend.live.notices import publish

# An idle worker sends a heartbeat every five seconds. It counts as gone after this time without one.
GONE_AFTER = timedelta(seconds=15)


def is_connected(worker: Worker, now: datetime) -> bool:
    """Return True if a worker has sent a heartbeat recently and has not left."""
    # A heartbeat from the future means that the clock was set back since.
    return not worker.left and abs(now - worker.last_seen_at) < GONE_AFTER


def connected_workers(session: Session, now: datetime) -> list[Worker]:
    """Return the connected workers."""
    return [worker for worker in session.scalars(select(Worker)) if is_connected(worker, now)]


def free_job_slots(session: Session, workers: Iterable[Worker]) -> dict[str, int]:
    """Return the number of free job slots by worker name, for workers that have job slots."""
    query = select(Job.worker, func.count()).where(Job.state == "running").group_by(Job.worker)
    used = {row[0]: row[1] for row in session.execute(query)}
    return {worker.name: worker.job_slots - used.get(worker.name, 0) for worker in workers if worker.job_slots}


def count_free_job_slots(session: Session, workers: Collection[Worker]) -> int | None:
    """Return the total number of free job slots, or None if no worker has any job slots."""
    free = free_job_slots(session, workers)
    return sum(max(slots, 0) for slots in free.values()) if free else None


def announce_worker(session: Session, worker: str) -> None:
    """Notify open pages after the commit that a worker's state changed."""
    after_commit(session, lambda: publish("worker.changed", {"name": worker}))

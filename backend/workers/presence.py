"""Which workers are here, and which of them are free."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Job, Worker
from backend.live.notices import publish

# A worker reports every few seconds; after this long without a report it counts as gone.
GONE_AFTER = timedelta(seconds=10)


def is_here(worker: Worker, now: datetime) -> bool:
    """Whether a worker has reported lately and has not said goodbye."""
    # A report from the future is from before the clock was set back.
    return not worker.left and abs(now - worker.last_seen_at) < GONE_AFTER


def workers_here(session: Session, now: datetime) -> list[Worker]:
    """The workers that are here."""
    return [worker for worker in session.scalars(select(Worker)) if is_here(worker, now)]


def free_workers(session: Session, queues: Iterable[str]) -> dict[str, int | None]:
    """How many workers of each queue are free; None where none is connected at all."""
    if not queues:
        return {}
    here = workers_here(session, utc_now())
    found: dict[str, int | None] = {}
    for queue in queues:
        mine = [worker for worker in here if worker.queue == queue]
        found[queue] = sum(worker.run_id is None for worker in mine) if mine else None
    return found


def free_for_jobs(session: Session, here: Iterable[Worker]) -> dict[str, int]:
    """How many more jobs each of these workers takes that takes any, by its name."""
    query = select(Job.worker, func.count()).where(Job.state == "running").group_by(Job.worker)
    held = {row[0]: row[1] for row in session.execute(query)}
    return {worker.name: worker.job_slots - held.get(worker.name, 0) for worker in here if worker.job_slots}


def places_for_jobs(session: Session) -> int | None:
    """How many jobs could begin now; None where no worker that takes any is connected."""
    free = free_for_jobs(session, workers_here(session, utc_now()))
    return sum(max(places, 0) for places in free.values()) if free else None


def announce_worker(session: Session, worker: str) -> None:
    """Tell open pages after the commit that a worker came, left, took a run or gave one back."""
    after_commit(session, lambda: publish("worker.changed", {"name": worker}))

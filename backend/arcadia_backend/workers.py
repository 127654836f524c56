"""Workers as the backend sees them: which are connected, and which are free."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from arcadia_backend.database import tables
from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.tables import Job, Run
from arcadia_backend.live.notices import publish
from arcadia_workers.contract.plugins.discovery import package_names
from arcadia_workers.contract.plugins.loading import joined
from arcadia_workers.contract.worker_api import WORKERS, QueueName


class WorkerPlugin(BaseModel):
    """An allowed plug-in of a worker."""

    name: str
    version: str | None = Field(description="Null if it is not installed there.")
    problem: str | None = Field(description="Why the worker cannot use it, as a sentence.")
    differs: bool = Field(description="True if the server has another version or cannot use it.")


class Worker(BaseModel):
    """A worker with its state and host."""

    name: str
    host: str
    queue: QueueName
    executor: str = Field(description="`workers`, or the scheduler whose job it is.")
    state: Literal["idle", "busy", "gone"]
    run_id: int | None = Field(description="Null if it is idle, or trains a run to which you have no access.")
    job_slots: int = Field(description="Number of concurrent jobs, such as evaluations, beside its training.")
    last_seen_at: datetime
    version: str
    is_other_build: bool = Field(description="True if it runs another build of Arcadia than the server.")
    device: str
    cores: int
    memory_bytes: int
    pid: int
    plugins: list[WorkerPlugin]


def has_plugins(worker: tables.Worker, needed: str) -> bool:
    """Return True if a worker has the plug-ins in a list of names."""
    working = {plugin["name"] for plugin in worker.plugins if not plugin["problem"]}
    return working.issuperset(package_names(needed))


def can_be_done_by(session: Session, worker: str, table: type[Run] | type[Job]) -> ColumnElement[bool]:
    """Return the condition for queued rows whose plug-ins a worker has."""
    row = session.get(tables.Worker, worker)
    wanted = session.scalars(select(table.needed_plugins).where(table.state == "queued").distinct())
    return table.needed_plugins.in_(
        [each for each in wanted if not package_names(each) or (row and has_plugins(row, each))]
    )


def missing_reason(workers: Collection[tables.Worker], needed: str, kind: str) -> str | None:
    """Return a message if there are workers of a kind, but none has the needed plug-ins."""
    if not workers or any(has_plugins(worker, needed) for worker in workers):
        return None
    return (
        f"No {kind} has {joined(package_names(needed))}. Install what is missing on the host of a worker, allow it "
        "with ARCADIA_PLUGINS and start the worker again."
    )


# An idle worker sends a heartbeat every five seconds. It counts as gone after this time without one.
GONE_AFTER = timedelta(seconds=15)


def is_connected(worker: tables.Worker, now: datetime) -> bool:
    """Return True if a worker has sent a heartbeat recently and has not left."""
    # A heartbeat from the future means that the clock was set back since.
    return not worker.left and abs(now - worker.last_seen_at) < GONE_AFTER


def connected_workers(session: Session, now: datetime) -> list[tables.Worker]:
    """Return the connected workers that claim from the queues, without those of schedulers' jobs."""
    workers = session.scalars(select(tables.Worker).where(tables.Worker.executor == WORKERS))
    return [worker for worker in workers if is_connected(worker, now)]


def free_job_slots(session: Session, workers: Iterable[tables.Worker]) -> dict[str, int]:
    """Return the number of free job slots by worker name, for workers that have job slots."""
    query = select(Job.worker, func.count()).where(Job.state == "running").group_by(Job.worker)
    used = {row[0]: row[1] for row in session.execute(query)}
    return {worker.name: worker.job_slots - used.get(worker.name, 0) for worker in workers if worker.job_slots}


def count_free_job_slots(session: Session, workers: Collection[tables.Worker]) -> int | None:
    """Return the total number of free job slots, or None if no worker has any job slots."""
    free = free_job_slots(session, workers)
    return sum(max(slots, 0) for slots in free.values()) if free else None


def announce_worker(session: Session, worker: str) -> None:
    """Notify open pages after the commit that a worker's state changed."""
    after_commit(session, lambda: publish("worker.changed", {"name": worker}))

"""Workers as the backend sees them: which are connected, and which are free."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import ColumnElement, func, select, true
from sqlalchemy.orm import Session

from arcadia_backend.database import tables
from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.tables import Job, Run
from arcadia_backend.live.notices import publish
from arcadia_workers.contract.jobs import INTERACTIVE_JOBS, JobKind
from arcadia_workers.contract.plugins.discovery import package_names
from arcadia_workers.contract.plugins.loading import joined
from arcadia_workers.contract.values import STORABLE
from arcadia_workers.contract.worker_api import INTERACTIVE_SLOTS, WORKERS, QueueName, WorkerDesired

MAX_LABELS = 10
Label = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,29}$")]
Labels = Annotated[list[Label], Field(max_length=MAX_LABELS)]
HostName = Annotated[str, StringConstraints(strip_whitespace=True, max_length=100), STORABLE]
# Programs of others may hold this share of a GPU's memory. With more, the GPU is busy.
MAX_FOREIGN_SHARE = 0.05


def is_busy(gpu: dict[str, Any]) -> bool:
    """Return True if programs of others use a GPU, so that no run starts on it."""
    return bool(gpu["foreign_bytes"] > MAX_FOREIGN_SHARE * gpu["memory_bytes"])


class WorkerEdit(BaseModel):
    """A change of a worker."""

    model_config = ConfigDict(extra="forbid")

    desired: WorkerDesired | None = None
    labels: Labels | None = Field(default=None, description="Labels of its host, which its other workers get too.")
    host_name: HostName | None = Field(
        default=None, description="Name of its host on pages, which its other workers get too. Empty for its own."
    )


class WorkerGpu(BaseModel):
    """A GPU of a host."""

    index: int
    name: str
    memory_bytes: int
    foreign_bytes: int = Field(description="Memory that programs of others hold.")
    is_busy: bool = Field(description="True if programs of others hold more than 5 %, so that no run starts on it.")


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
    host_name: str = Field(description="The name that people gave its host, or an empty text.")
    queue: QueueName
    executor: str = Field(description="`workers`, or the scheduler whose job it is.")
    state: Literal["idle", "busy", "gone"]
    desired: WorkerDesired = Field(
        description="`pause` if it finishes its work and takes no other, `drain` if it also gives back its work."
    )
    run_id: int | None = Field(description="Null if it is idle, or trains a run to which you have no access.")
    job_slots: int = Field(description="Number of concurrent jobs, in addition to its training and interactive jobs.")
    last_seen_at: datetime
    version: str
    is_other_build: bool = Field(description="True if it runs another build of Arcadia than the server.")
    device: str
    cores: int
    memory_bytes: int
    gpus: list[WorkerGpu] = Field(description="GPUs of its host that it may use.")
    labels: list[str] = Field(description="Labels of its host, which runs may need.")
    low_disk_megabytes: int | None = Field(
        description="Free space of its disk if that is almost full, and 0 if nothing can be written there."
    )
    pid: int
    plugins: list[WorkerPlugin]
    may_edit: bool = Field(description="Whether you may pause, drain or remove it.")


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


def paused_reason(workers: Collection[tables.Worker], kind: str) -> str | None:
    """Return a message if there are workers of a kind, but people have paused all of them."""
    if not workers or any(worker.desired == "work" for worker in workers):
        return None
    return f"Every {kind} is paused. An administrator can resume one on the page Workers."


MEGABYTE = 10**6


def to_megabytes(free_bytes: int | None) -> int | None:
    """Return the free megabytes of a disk that is almost full. Only 0 means that nothing can be written."""
    return max(1, free_bytes // MEGABYTE) if free_bytes else free_bytes


def disk_warning(worker: tables.Worker) -> str | None:
    """Return what a full disk of a worker means for its run, or None if the disk has space."""
    free = worker.low_disk_megabytes
    if free is None:
        return None
    if free == 0:
        return f"The disk of worker {worker.name} is full. Training waits, and continues when there is space."
    return f"The disk of worker {worker.name} is almost full: {free} MB are free. Training waits while it is full."


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


def open_workers(session: Session, now: datetime) -> list[tables.Worker]:
    """Return the connected workers that take new work."""
    return [worker for worker in connected_workers(session, now) if worker.desired == "work"]


def job_takers(session: Session, now: datetime) -> list[tables.Worker]:
    """Return the connected workers that do jobs, also those of schedulers' jobs."""
    workers = session.scalars(select(tables.Worker).where(tables.Worker.job_slots > 0))
    return [worker for worker in workers if is_connected(worker, now)]


def takes_work(session: Session, name: str) -> bool:
    """Return True unless people have paused or drained a worker. One without a heartbeat yet takes work."""
    worker = session.get(tables.Worker, name)
    return worker is None or worker.desired == "work"


def running_jobs(session: Session) -> list[tuple[str, JobKind]]:
    """Return the worker and the kind of each running job."""
    query = select(Job.worker, Job.kind).where(Job.state == "running").order_by(Job.id)
    return [(worker, kind) for worker, kind in session.execute(query) if worker is not None]


def free_job_slots(worker: tables.Worker, running: Iterable[tuple[str, JobKind]], kind: JobKind) -> int:
    """Return how many jobs of a kind a worker can start now."""
    if not worker.job_slots or worker.desired != "work":
        return 0
    held = [each for name, each in running if name == worker.name]
    free = worker.job_slots + INTERACTIVE_SLOTS - len(held)
    if kind not in INTERACTIVE_JOBS:
        free = min(free, worker.job_slots - sum(each not in INTERACTIVE_JOBS for each in held))
    return max(free, 0)


def fits_job_slots(session: Session, worker: str) -> ColumnElement[bool]:
    """Return the condition for jobs for which a worker has a slot. Some slots are only for interactive jobs."""
    row = session.get(tables.Worker, worker)
    if row is None or not row.job_slots:  # it has not reported its slots yet
        return true()
    held = select(func.count()).where(Job.worker == worker, Job.state == "running", Job.kind.not_in(INTERACTIVE_JOBS))
    return Job.kind.in_(INTERACTIVE_JOBS) if session.scalars(held).one() >= row.job_slots else true()


def announce_worker(session: Session, worker: str) -> None:
    """Notify open pages after the commit that a worker's state changed."""
    after_commit(session, lambda: publish("worker.changed", {"name": worker}))

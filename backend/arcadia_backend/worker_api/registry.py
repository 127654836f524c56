"""Registry of workers: heartbeats, which renew leases, and the list of workers."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from arcadia_backend import workers
from arcadia_backend.changes import list_requested
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.rights import MissingRight
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Job, Run, Worker
from arcadia_backend.errors import Conflict, NotFound, Problem
from arcadia_backend.runs.states import announce_run
from arcadia_backend.web.lookup import hidden_runs
from arcadia_backend.worker_api.attempts import CHECKED_RUN, StaleAttempt, is_job_worker, is_worker_of
from arcadia_backend.worker_api.jobs import JOBS
from arcadia_backend.worker_api.runs import RUNS
from arcadia_backend.workers import announce_worker, is_connected, to_megabytes
from arcadia_workers.contract import worker_api
from arcadia_workers.contract.build import build, differ
from arcadia_workers.contract.events import RequestedChange
from arcadia_workers.contract.plugins.loading import loaded_versions
from arcadia_workers.contract.worker_api import NAME_TAKEN, WORKERS, Desired, WantedJob

log = logging.getLogger(__name__)

# A worker without a heartbeat for this long is deleted.
DELETED_AFTER = timedelta(days=7)

# Workers send heartbeats twice a second while they train. Store new times less often to spare the disk.
_MIN_TIME_CHANGE = timedelta(seconds=2)


@dataclass
class Beat:
    """Response to a heartbeat.

    It has the worker's desired assignments, its run's changes, whether the run is stale, and whether people drain it.
    """

    desired: Desired | None = None
    stale: StaleAttempt | None = None
    jobs: list[WantedJob] = field(default_factory=list)
    changes: list[RequestedChange] = field(default_factory=list)
    drain: bool = False


class NameTaken(Problem):
    """Another connected worker has this name."""

    status = 409
    kind = NAME_TAKEN
    title = "Another worker has this name"


def beat(session: Session, settings: Settings, report: worker_api.Heartbeat) -> Beat:
    """Record a heartbeat and renew the leases of the worker. The caller raises `stale` after the commit."""
    _refuse_taken_name(session, report)
    answer, is_interrupted = Beat(), False
    held = report.run
    if held is not None:
        try:
            run = RUNS.current(session, held.id, held.attempt, lock=True)
        except StaleAttempt as stale:
            answer.stale = stale
        except NotFound:
            answer.stale = StaleAttempt(f"Run {held.id} was deleted. Stop its trainer.")
        else:
            answer.desired, is_interrupted = run.desired, run.interrupted_for is not None
            answer.changes = list_requested(session, run.id)
            _renew(settings, run)
    # Lock in order of the ids, so that two heartbeats cannot deadlock.
    for assignment in sorted(report.jobs, key=lambda assignment: assignment.id):
        answer.jobs.append(_beat_job(session, settings, assignment))
    worker = _store(session, report, held.id if held is not None and answer.stale is None else None)
    answer.drain = worker.desired == "drain" or is_interrupted
    return answer


def require_own_worker(name: str, report: worker_api.Heartbeat | None = None) -> None:
    """Raise MissingRight if the token of a scheduler's job names another worker, run or kind of work than its own."""
    if (number := current().job_worker) is not None:
        if not is_job_worker(name, number):
            raise MissingRight(f"This token is only for a worker whose name ends with .jobs-{number}.")
        if report is not None and report.run is not None:
            raise MissingRight("This token is only for jobs. Its worker trains no runs.")
        return
    if (submission := current().submission) is None:
        return
    run_id = submission[0]
    is_check = run_id == CHECKED_RUN and report is None
    if not (is_check or is_worker_of(name, run_id)):
        raise MissingRight(f"This token is only for a worker of run {run_id}, whose name ends with .run-{run_id}.")
    if report is not None and (report.jobs or report.job_slots or (report.run and report.run.id != run_id)):
        raise MissingRight(f"This token is only for run {run_id}. Its worker takes no other work.")


def _refuse_taken_name(session: Session, report: worker_api.Heartbeat) -> None:
    """Raise NameTaken if another connected worker has the name. A worker may replace an ended one on its host."""
    worker = session.get(Worker, report.name)
    if worker is None or not is_connected(worker, utc_now()):
        return
    if worker.host != report.host or worker.pid not in (report.pid, report.replaces):
        raise NameTaken(f"Worker {worker.name} is connected already: process {worker.pid} on host {worker.host}.")


def _beat_job(session: Session, settings: Settings, held: worker_api.HeldAssignment) -> WantedJob:
    """Renew the lease of a job, and return its desired state."""
    job = session.get(Job, held.id, with_for_update=True)
    if job is None or not JOBS.is_current(job, held.attempt):
        return WantedJob(id=held.id, attempt=held.attempt, desired=None)
    JOBS.continue_if_silent(session, job)
    _renew(settings, job)
    return WantedJob(id=held.id, attempt=held.attempt, desired=job.desired)


def _renew(settings: Settings, held: Run | Job) -> None:
    lease = utc_now() + timedelta(seconds=settings.lease_seconds)
    # Compare both ways: after the clock was set back the stored lease is in the future.
    if held.lease_expires_at is None or abs(lease - held.lease_expires_at) > _MIN_TIME_CHANGE:
        held.lease_expires_at = lease


def leave(session: Session, name: str) -> None:
    """Record that a worker has left."""
    worker = session.get(Worker, name, with_for_update=True)
    if worker is not None and not worker.left:
        worker.left, worker.run_id = True, None
        announce_worker(session, name)


def edit(session: Session, name: str, changes: workers.WorkerEdit) -> workers.Worker:
    """Pause or drain a worker, let it work again, or change the labels or the name of its host."""
    worker = _find(session, name)
    if worker.executor != WORKERS:
        raise Conflict(f"Worker {name} is a job of a scheduler. Stop its run instead.")
    if changes.desired is not None and worker.desired != changes.desired:
        worker.desired = changes.desired
        announce_worker(session, name)
    of_host = {
        name: value
        for name, value in (
            ("labels", None if changes.labels is None else sorted({*changes.labels})),
            ("host_name", changes.host_name),
        )
        if value is not None
    }
    if of_host:
        for each in session.scalars(select(Worker).where(Worker.host == worker.host).order_by(Worker.name)):
            for column, value in of_host.items():
                setattr(each, column, value)
            announce_worker(session, each.name)
    return _describe(session, [worker])[0]


def remove(session: Session, name: str) -> None:
    """Remove a worker that is gone from the list. It is listed again if it returns."""
    worker = _find(session, name)
    if is_connected(worker, utc_now()):
        raise Conflict(f"Worker {name} is connected. Stop its process first.")
    session.delete(worker)
    announce_worker(session, name)


def _find(session: Session, name: str) -> Worker:
    worker = session.get(Worker, name, with_for_update=True)
    if worker is None:
        raise NotFound(f"There is no worker {name}.")
    return worker


def list_workers(session: Session) -> list[workers.Worker]:
    """Return the workers by name."""
    now = utc_now()
    listed = select(Worker).where(Worker.last_seen_at > now - DELETED_AFTER).order_by(Worker.name)
    return _describe(session, session.scalars(listed).all())


def _describe(session: Session, listed: Sequence[Worker]) -> list[workers.Worker]:
    """Return workers as the caller sees them."""
    now, scope = utc_now(), current()
    may_edit = scope.everything and "write" in scope.scopes
    hidden = hidden_runs(session, (worker.run_id for worker in listed))
    return [
        workers.Worker(
            name=worker.name,
            host=worker.host,
            host_name=worker.host_name,
            queue=worker.queue,
            executor=worker.executor,
            state=("busy" if worker.run_id is not None else "idle") if is_connected(worker, now) else "gone",
            desired=worker.desired,
            run_id=worker.run_id if is_connected(worker, now) and worker.run_id not in hidden else None,
            job_slots=worker.job_slots,
            last_seen_at=worker.last_seen_at,
            version=worker.version,
            is_other_build=differ(worker.version, build()),
            device=worker.device,
            cores=worker.cores,
            memory_bytes=worker.memory_bytes,
            gpus=[workers.WorkerGpu(**gpu, is_busy=workers.is_busy(gpu)) for gpu in worker.gpus],
            labels=worker.labels,
            low_disk_megabytes=worker.low_disk_megabytes if is_connected(worker, now) else None,
            pid=worker.pid,
            plugins=[workers.WorkerPlugin(**plugin, differs=_differs(plugin)) for plugin in worker.plugins],
            may_edit=may_edit and worker.executor == WORKERS,
        )
        for worker in listed
    ]


def _differs(plugin: Mapping[str, Any]) -> bool:
    """Return True if a plug-in of a worker has another version here, or is not usable here."""
    ours: str | None = loaded_versions().get(plugin["name"])
    return bool(ours != plugin["version"])


def delete_gone_workers(database: Database, now: datetime) -> None:
    """Delete workers that have been gone for long, such as those of old containers."""
    gone = Worker.last_seen_at <= now - DELETED_AFTER
    with database.read() as session:
        first = session.scalar(select(Worker.name).where(gone).limit(1))
    if first is not None:
        with database.write() as session:
            session.execute(delete(Worker).where(gone))


def _store(session: Session, report: worker_api.Heartbeat, run_id: int | None) -> Worker:
    worker = session.get(Worker, report.name, with_for_update=True)
    changed = worker is None or not is_connected(worker, utc_now()) or worker.run_id != run_id
    if worker is None:
        # What people have chosen for its host.
        other = session.scalar(select(Worker).where(Worker.host == report.host).limit(1))
        chosen = {} if other is None else {"labels": other.labels, "host_name": other.host_name}
        worker = Worker(name=report.name, **chosen)
        session.add(worker)
    low_disk = to_megabytes(report.low_disk_bytes)
    if worker.low_disk_megabytes != low_disk:
        worker.low_disk_megabytes = low_disk
        changed = True
        if run_id is not None:
            announce_run(session, run_id, "run.changed")
    now = utc_now()
    if changed or abs(now - worker.last_seen_at) > _MIN_TIME_CHANGE:
        worker.last_seen_at = now
    for column in ("host", "queue", "pid", "version", "device", "cores", "memory_bytes", "job_slots", "executor"):
        setattr(worker, column, getattr(report, column))
    worker.gpus = [gpu.model_dump() for gpu in report.gpus]
    worker.plugins = [plugin.model_dump() for plugin in report.plugins]
    worker.run_id, worker.left = run_id, False
    if changed:
        announce_worker(session, report.name)
        if differ(report.version, ours := build()):
            log.warning("Worker %s runs build %s, this server build %s. Update one.", report.name, report.version, ours)
    return worker

"""Workers: their heartbeats, which renew the leases of what they hold, and the list that users see."""

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.engine import Database
from backend.database.tables import Job, Run, Worker
from backend.errors import NotFound, Problem
from backend.worker_api.attempts import StaleAttempt, current_run
from backend.worker_api.jobs import continue_if_silent, is_current
from backend.workers import schemas
from backend.workers.presence import announce_worker, is_connected
from workers.contract import worker_api
from workers.contract.build import build, differ
from workers.contract.worker_api import NAME_TAKEN, Desired, WantedJob

log = logging.getLogger(__name__)

# A worker that has been away this long is no longer listed.
FORGOTTEN_AFTER = timedelta(days=7)

# Workers report twice a second while they train; writing each report would only load the disk.
_WORTH_WRITING = timedelta(seconds=2)


@dataclass
class Beat:
    """The answer to a heartbeat: the users' wishes for what the worker holds, or that another attempt has the run."""

    desired: Desired | None = None
    stale: StaleAttempt | None = None
    jobs: list[WantedJob] = field(default_factory=list)


class NameTaken(Problem):
    """Another live worker has this name."""

    status = 409
    kind = NAME_TAKEN
    title = "Another worker has this name"


def beat(session: Session, settings: Settings, report: worker_api.Heartbeat) -> Beat:
    """Note that a worker lives, and renew its leases. The caller raises `stale` once this is committed."""
    _refuse_taken_name(session, report)
    found = Beat()
    held = report.run
    if held is not None:
        try:
            run = current_run(session, held.id, held.attempt, lock=True)
        except StaleAttempt as stale:
            found.stale = stale
        except NotFound:
            found.stale = StaleAttempt(f"Run {held.id} was removed. Stop its trainer.")
        else:
            found.desired = run.desired
            _renew(settings, run)
    # In order, so that two heartbeats never wait for each other.
    for assignment in sorted(report.jobs, key=lambda assignment: assignment.id):
        found.jobs.append(_wanted(session, settings, assignment))
    _keep(session, report, held.id if held is not None and found.stale is None else None)
    return found


def _refuse_taken_name(session: Session, report: worker_api.Heartbeat) -> None:
    """Refuse a second live worker of a name. A worker may follow one of its own host that has ended."""
    worker = session.get(Worker, report.name)
    if worker is None or not is_connected(worker, utc_now()):
        return
    if worker.host != report.host or worker.pid not in (report.pid, report.replaces):
        raise NameTaken(f"Worker {worker.name} is connected already: process {worker.pid} on host {worker.host}.")


def _wanted(session: Session, settings: Settings, held: worker_api.HeldAssignment) -> WantedJob:
    """Renew a job's lease, and say what is wanted of it."""
    job = session.get(Job, held.id, with_for_update=True)
    if job is None or not is_current(job, held.attempt):
        return WantedJob(id=held.id, attempt=held.attempt, desired=None)
    continue_if_silent(session, job)
    _renew(settings, job)
    return WantedJob(id=held.id, attempt=held.attempt, desired=job.desired)


def _renew(settings: Settings, held: Run | Job) -> None:
    lease = utc_now() + timedelta(seconds=settings.lease_seconds)
    # A clock that was set back must not keep the lease from being renewed.
    if held.lease_expires_at is None or abs(lease - held.lease_expires_at) > _WORTH_WRITING:
        held.lease_expires_at = lease


def leave(session: Session, name: str) -> None:
    """Note that a worker has left."""
    worker = session.get(Worker, name, with_for_update=True)
    if worker is not None and not worker.left:
        worker.left, worker.run_id = True, None
        announce_worker(session, name)


def listed(session: Session) -> list[schemas.Worker]:
    """Workers seen lately, by name."""
    now = utc_now()
    query = select(Worker).where(Worker.last_seen_at > now - FORGOTTEN_AFTER).order_by(Worker.name)
    return [
        schemas.Worker(
            name=worker.name,
            host=worker.host,
            queue=worker.queue,
            state=("busy" if worker.run_id is not None else "idle") if is_connected(worker, now) else "gone",
            run_id=worker.run_id if is_connected(worker, now) else None,
            job_slots=worker.job_slots,
            last_seen_at=worker.last_seen_at,
            version=worker.version,
            is_other_build=differ(worker.version, build()),
            device=worker.device,
            cores=worker.cores,
            memory_bytes=worker.memory_bytes,
            pid=worker.pid,
        )
        for worker in session.scalars(query)
    ]


def forget_gone_workers(database: Database, now: datetime) -> None:
    """Delete workers that are no longer listed: every container that was ever one would be looked at for ever."""
    gone = Worker.last_seen_at <= now - FORGOTTEN_AFTER
    with database.read() as session:
        found = session.scalar(select(Worker.name).where(gone).limit(1))
    if found is not None:
        with database.write() as session:
            session.execute(delete(Worker).where(gone))


def _keep(session: Session, report: worker_api.Heartbeat, run_id: int | None) -> None:
    worker = session.get(Worker, report.name, with_for_update=True)
    news = worker is None or not is_connected(worker, utc_now()) or worker.run_id != run_id
    if worker is None:
        worker = Worker(name=report.name)
        session.add(worker)
    now = utc_now()
    if news or abs(now - worker.last_seen_at) > _WORTH_WRITING:
        worker.last_seen_at = now
    for column in ("host", "queue", "pid", "version", "device", "cores", "memory_bytes", "job_slots"):
        setattr(worker, column, getattr(report, column))
    worker.run_id, worker.left = run_id, False
    if news:
        announce_worker(session, report.name)
        if differ(report.version, ours := build()):
            log.warning("Worker %s runs build %s, this server build %s. Update one.", report.name, report.version, ours)

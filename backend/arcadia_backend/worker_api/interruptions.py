"""Interruptions: a waiting run takes the place of an interruptible run with a lower priority.

Only priorities interrupt, never fair shares: otherwise two owners would interrupt each other forever.
"""

from typing import get_args

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from arcadia_backend.caps import may_start
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, Worker
from arcadia_backend.logs import note
from arcadia_backend.runs.needs import explicit_size, read_hosts, size_of
from arcadia_backend.runs.states import announce_run
from arcadia_backend.runs.waiting import first_waiting
from arcadia_backend.workers import has_plugins, open_workers
from arcadia_workers.contract.worker_api import WORKERS, QueueName

QUEUES: tuple[QueueName, ...] = get_args(QueueName)


def interrupt(database: Database) -> None:
    """For the first waiting run of each queue, choose a running run that it interrupts, if no worker is free."""
    with database.read() as session:
        wanted = [queue for queue in QUEUES if _may_interrupt(session, queue)]
    for queue in wanted:
        with database.write() as session:
            _interrupt_one(session, queue)


def _may_interrupt(session: Session, queue: QueueName) -> bool:
    running = select(Run.id).where(*_running(queue)).limit(1)
    return session.scalar(running) is not None and _first(session, queue) is not None


def _running(queue: QueueName) -> tuple[ColumnElement[bool], ...]:
    is_training = Run.state == "running", Run.desired == "run", Run.queue == queue, Run.executor == WORKERS
    return (*is_training, Run.interruptible.is_(True))


def _first(session: Session, queue: QueueName) -> Run | None:
    is_waiting = Run.state == "queued", Run.queue == queue, Run.executor == WORKERS, Run.archived_at.is_(None)
    waiting = (*is_waiting, may_start(session))
    number = first_waiting(session, queue, waiting)
    return None if number is None else session.get(Run, number)


def _interrupt_one(session: Session, queue: QueueName) -> None:
    first = _first(session, queue)
    if first is None or session.scalar(select(Run.id).where(Run.interrupted_for == first.id).limit(1)) is not None:
        return
    workers = [each for each in open_workers(session, utc_now()) if each.queue == queue]
    if any(_fits(session, worker, queue, first, None) for worker in workers if worker.run_id is None):
        return  # it is about to be claimed
    by_name = {worker.name: worker for worker in workers}
    lower = select(Run).where(*_running(queue), Run.priority < first.priority)
    # The run of the lowest priority that has trained for the shortest time.
    for run in session.scalars(lower.order_by(Run.priority, Run.started_at.desc()).with_for_update()):
        worker = by_name.get(run.worker or "")
        if worker is not None and run.interrupted_for is None and _fits(session, worker, queue, first, run):
            run.interrupted_for, run.interruptions = first.id, run.interruptions + 1
            note(session, run, f"Run {first.id} has a higher priority and takes its place. It continues afterwards.")
            note(session, first, f"Takes the place of run {run.id}, which may be interrupted.")
            announce_run(session, run.id, "run.changed", "run.log")
            announce_run(session, first.id, "run.log")
            return


def _fits(session: Session, worker: Worker, queue: QueueName, run: Run, without: Run | None) -> bool:
    """Return True if a run fits on the host of a worker, where another run ends."""
    if not has_plugins(worker, run.needed_plugins):
        return False
    host = read_hosts(session, [worker.host], queue, ending=without)[worker.host]
    if host.is_shared:
        return host.now.fits(size_of(session, run, queue, host))
    return host.total.fits(explicit_size(run.needs))

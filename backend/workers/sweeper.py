"""A thread that, every few seconds, takes runs and errands back from silent workers and rings for what waits.

It rings at the queue that a free worker alone listens to: at the common one a busy worker may hear it, in vain.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.columns import utc_now
from backend.config import Settings
from backend.db import Database
from backend.doorbell import Doorbell
from backend.errors import NotFound
from backend.files.removal import remove_waiting
from backend.live.notices import publish
from backend.lookup import find_run
from backend.models import Errand, Run
from backend.presence import free_for_errands, workers_here
from backend.runs.states import ACTIVE
from backend.space import give_back_space
from backend.workers import attempts, errands
from backend.workers.silence import Silence
from workers.contract.worker_api import LOOK_FOR_ERRANDS_TASK, LOOK_TASK, Outcome, QueueName, private_queue

log = logging.getLogger(__name__)


class Sweeper:
    """Several backends may each run one, since each row is locked and checked again before it changes."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        doorbell: Doorbell,
        clock: Callable[[], float] = time.monotonic,  # stands still while the machine is suspended
    ) -> None:
        self._database = database
        self._settings = settings
        self._doorbell = doorbell
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._silences = [Silence(settings.lease_seconds, settings.sweep_seconds, clock) for _ in _JOBS]
        self._here: set[str] = set()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def sweep(self) -> None:
        """Take back what silent workers held, ring for what waits, and announce workers that fell silent."""
        now = utc_now()
        self.reap(now)
        with self._database.read() as session:
            rings = _rings(session, now)
            here = {worker.name for worker in workers_here(session, now)}
        for worker, task, number in rings:
            self._doorbell.ring(private_queue(worker), number, task)
        remove_waiting(self._database.files_dir)
        give_back_space(self._database)
        for name in self._here - here:
            publish("worker.changed", {"name": name})
        self._here = here

    def reap(self, now: datetime) -> None:
        """Take back runs and errands whose workers have been silent for too long."""
        for job, silence in zip(_JOBS, self._silences, strict=True):
            model = job.model
            with self._database.read() as session:
                query = select(model.id, model.attempt, model.lease_expires_at).where(
                    model.state.in_(job.active), model.lease_expires_at.is_not(None)
                )
                leases = {(row.id, row.attempt): row.lease_expires_at for row in session.execute(query)}
            for held in silence.silent(leases, now):
                self._take_back(job, *held, leases[held])

    def _take_back(self, job: "_Job", number: int, attempt: int, lease: datetime) -> None:
        """End an attempt as lost, unless its lease was renewed since it was looked at."""
        with self._database.write() as session, suppress(NotFound):
            held = job.locked(session, number)
            if held.attempt == attempt and held.lease_expires_at == lease and held.state in job.active:
                log.warning("%s %d: worker %s fell silent", job.model.__name__.lower(), number, held.worker)
                job.conclude(session, self._settings, held, "lost")
                self._doorbell.ring_after_commit(session, held)

    def _run(self) -> None:
        while not self._stopping.wait(self._settings.sweep_seconds):
            try:
                self.sweep()
            except SQLAlchemyError:
                log.exception("the database does not answer; looking again in %g s", self._settings.sweep_seconds)


@dataclass(frozen=True)
class _Job:
    """What a worker may hold, and what becomes of it when the worker falls silent."""

    model: type[Run] | type[Errand]
    active: tuple[str, ...]
    locked: Callable[[Session, int], Any]
    conclude: Callable[[Session, Settings, Any, Outcome], None]


_JOBS = (
    _Job(Run, ACTIVE, partial(find_run, lock=True), attempts.conclude),
    _Job(Errand, ("running",), partial(errands.find_errand, lock=True), errands.conclude),
)


def _rings(session: Session, now: datetime) -> list[tuple[str, str, int]]:
    """For each worker with a free place for something that waits: its name, the task to call, and what waits."""
    here = workers_here(session, now)
    waiting = {queue: _waiting_run(session, queue) for queue in {worker.queue for worker in here}}
    idle = [worker for worker in here if worker.run_id is None]
    rings = [(worker.name, LOOK_TASK, run) for worker in idle if (run := waiting[worker.queue]) is not None]
    errand_id = session.scalar(select(Errand.id).where(Errand.state == "queued").order_by(Errand.created_at).limit(1))
    if errand_id is not None:
        free = [name for name, places in free_for_errands(session, here).items() if places > 0]
        rings += [(name, LOOK_FOR_ERRANDS_TASK, errand_id) for name in free]
    return rings


def _waiting_run(session: Session, queue: QueueName) -> int | None:
    query = select(Run.id).where(Run.state == "queued", Run.queue == queue)
    return session.scalar(query.order_by(Run.priority.desc(), Run.created_at, Run.id).limit(1))

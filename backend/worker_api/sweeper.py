"""A thread that, every few seconds, takes runs and jobs back from silent workers and rings for what waits.

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
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.engine import Database, after_commit
from backend.database.space import give_back_space
from backend.database.tables import Job, Run
from backend.doorbell import Doorbell
from backend.errors import NotFound
from backend.failure_log import FailureLog
from backend.files.removal import remove_waiting
from backend.live.notices import publish
from backend.runs.states import ACTIVE
from backend.web.lookup import find_job, find_run
from backend.worker_api import attempts, jobs
from backend.worker_api.registry import forget_gone_workers
from backend.worker_api.silence import Held, Silence
from backend.workers.presence import connected_workers, free_job_slots
from workers.contract.worker_api import LOOK_FOR_JOBS_TASK, LOOK_TASK, QueueName, private_queue

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
        self._silences = [Silence(settings.lease_seconds, settings.sweep_seconds, clock) for _ in _KINDS]
        self._here: set[str] = set()
        self._failures = FailureLog(log)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def sweep(self) -> None:
        """Run every task once. A task that fails does not stop the others."""
        now = utc_now()
        with self._failures.guard("Ending the attempts of silent workers"):
            self.end_silent_attempts(now)
        with self._failures.guard("Ringing for waiting work"):
            self._ring(now)
        with self._failures.guard("Removing deleted files"):
            remove_waiting(self._database.files_dir)
        with self._failures.guard("Shrinking the database file"):
            give_back_space(self._database)
        with self._failures.guard("Deleting workers that are gone"):
            forget_gone_workers(self._database, now)

    def _ring(self, now: datetime) -> None:
        """Ring for what waits, and announce workers that fell silent."""
        with self._database.read() as session:
            rings = _rings(session, now)
            here = {worker.name for worker in connected_workers(session, now)}
        for worker, task, number in rings:
            self._doorbell.ring(private_queue(worker), number, task)
        for name in self._here - here:
            publish("worker.changed", {"name": name})
        self._here = here

    def end_silent_attempts(self, now: datetime) -> None:
        """End the attempts at runs and jobs whose workers have been silent for too long."""
        for kind, silence in zip(_KINDS, self._silences, strict=True):
            with self._failures.guard(f"Reading the leases of {kind.noun}s"):
                self._end_silent(kind, silence, now)

    def _end_silent(self, kind: "_AssignmentKind", silence: Silence, now: datetime) -> None:
        model = kind.model
        with self._database.read() as session:
            query = select(model.id, model.attempt, model.lease_expires_at).where(
                model.state.in_(kind.active), model.lease_expires_at.is_not(None)
            )
            leases = {(row.id, row.attempt): row.lease_expires_at for row in session.execute(query)}
        for held in silence.silent(leases, now):
            with self._failures.guard(f"Ending the attempt at {kind.noun} {held[0]}"):
                self._end_attempt(kind, held, leases[held])

    def _end_attempt(self, kind: "_AssignmentKind", held: Held, lease: datetime) -> None:
        """End an attempt as lost, unless its lease was renewed in the meantime."""
        number, attempt = held
        with self._database.write() as session, suppress(NotFound):
            row = kind.locked(session, number)
            if row.attempt == attempt and row.lease_expires_at == lease and row.state in kind.active:
                worker = row.worker
                after_commit(session, lambda: log.warning("%s %d: worker %s fell silent", kind.noun, number, worker))
                kind.lose(session, self._settings, row)
                self._doorbell.ring_after_commit(session, row)

    def _run(self) -> None:
        while not self._stopping.wait(self._settings.sweep_seconds):
            self.sweep()


@dataclass(frozen=True)
class _AssignmentKind:
    """How to lock a run or a job, and how to end the attempt of a silent worker."""

    noun: str
    model: type[Run] | type[Job]
    active: tuple[str, ...]
    locked: Callable[[Session, int], Any]
    lose: Callable[[Session, Settings, Any], None]


_KINDS = (
    _AssignmentKind("run", Run, ACTIVE, partial(find_run, lock=True), attempts.lose),
    _AssignmentKind("job", Job, ("running",), partial(find_job, lock=True), jobs.lose),
)


def _rings(session: Session, now: datetime) -> list[tuple[str, str, int]]:
    """For each worker with a free place for something that waits: its name, the task to call, and what waits."""
    here = connected_workers(session, now)
    waiting = {queue: _waiting_run(session, queue) for queue in {worker.queue for worker in here}}
    idle = [worker for worker in here if worker.run_id is None]
    rings = [(worker.name, LOOK_TASK, run) for worker in idle if (run := waiting[worker.queue]) is not None]
    job_id = session.scalar(select(Job.id).where(Job.state == "queued").order_by(Job.created_at).limit(1))
    if job_id is not None:
        free = [name for name, places in free_job_slots(session, here).items() if places > 0]
        rings += [(name, LOOK_FOR_JOBS_TASK, job_id) for name in free]
    return rings


def _waiting_run(session: Session, queue: QueueName) -> int | None:
    query = select(Run.id).where(Run.state == "queued", Run.queue == queue)
    return session.scalar(query.order_by(*attempts.QUEUE_ORDER).limit(1))

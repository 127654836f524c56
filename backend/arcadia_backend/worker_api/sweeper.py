"""Background thread that ends the attempts of silent workers and rings for waiting runs and jobs.

It rings on the private queue of a free worker, since a busy worker might receive a message on the shared queue.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from arcadia_backend.accounts import audit, device_login, sign_in, tokens
from arcadia_backend.alerts.service import ConditionChecker, delete_old_alerts
from arcadia_backend.artifacts.service import delete_unused_files
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.migrations import release_free_space
from arcadia_backend.database.tables import Job, Run
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.errors import NotFound
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.files import pieces
from arcadia_backend.files.storage import remove_waiting
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.live.notices import has_pages, publish
from arcadia_backend.reported.service import fail_silent
from arcadia_backend.runs import start_forecasts
from arcadia_backend.runs.waiting import QUEUE_ORDER
from arcadia_backend.web.idempotency import delete_expired_keys
from arcadia_backend.web.lookup import find_job, find_run
from arcadia_backend.worker_api import jobs, runs
from arcadia_backend.worker_api.interruptions import interrupt
from arcadia_backend.worker_api.registry import delete_gone_workers
from arcadia_backend.workers import connected_workers, free_job_slots, job_takers, open_workers, running_jobs
from arcadia_workers.contract.worker_api import (
    ACTIVE,
    LOOK_FOR_JOBS_TASK,
    LOOK_TASK,
    WORKERS,
    QueueName,
    private_queue,
)

AttemptKey = tuple[int, int]  # id of the run or job, and attempt


class SilenceDetector:
    """Record of how long one sweeper has seen each lease unchanged."""

    def __init__(self, lease_seconds: float, sweep_seconds: float, clock: Callable[[], float]) -> None:
        self._lease_limit, self._expired_limit, self._clock = lease_seconds, lease_seconds / 4, clock
        # After a longer gap this process was suspended itself, so its observations are worthless.
        self._longest_gap = sweep_seconds + self._expired_limit
        self._last_check = clock()
        self._since: dict[AttemptKey, tuple[datetime, float]] = {}

    @property
    def is_watching(self) -> bool:
        """True if there was a lease at the last check."""
        return bool(self._since)

    def silent(self, leases: Mapping[AttemptKey, datetime], now: datetime) -> list[AttemptKey]:
        """Record all current leases, and return the attempts to end."""
        monotonic = self._clock()
        if monotonic - self._last_check > self._longest_gap:
            self._since.clear()
        self._last_check = monotonic
        before = self._since
        self._since = {held: _first_seen(before.get(held), end, monotonic) for held, end in leases.items()}
        return [
            held
            for held, (end, since) in self._since.items()
            if monotonic - since >= (self._expired_limit if end < now else self._lease_limit)
        ]


def _first_seen(before: tuple[datetime, float] | None, end: datetime, monotonic: float) -> tuple[datetime, float]:
    return before if before is not None and before[0] == end else (end, monotonic)


log = logging.getLogger(__name__)

UNUSED_FILES_INTERVAL = timedelta(minutes=10)
ENDED_INTERVAL = timedelta(hours=1)


class Sweeper(BackgroundThread):
    """Thread of periodic tasks. Several backends may run one each, since each row is locked and checked again."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        doorbell: Doorbell,
        clock: Callable[[], float] = time.monotonic,  # stops while the machine is suspended
    ) -> None:
        self._database = database
        self._settings = settings
        self._doorbell = doorbell
        super().__init__("sweeper", settings.sweep_seconds, self.sweep)
        self._silences = [SilenceDetector(kind.limit(settings), settings.sweep_seconds, clock) for kind in _KINDS]
        self._conditions = ConditionChecker(database, settings, clock)
        self._connected: set[str] = set()
        self._is_quiet = False
        self._unused_files_checked: datetime | None = None
        self._ended_deleted: datetime | None = None
        self._failures = FailureLog(log)

    def sweep(self) -> float:
        """Run every task once. A task that fails does not stop the others. Return the seconds until the next sweep."""
        now = utc_now()
        self._is_quiet = False
        with self._failures.guard("Ending the attempts of silent workers"):
            self.end_silent_attempts(now)
        with self._failures.guard("Ringing for waiting work"):
            self._ring(now)
        with self._failures.guard("Interrupting runs for others of a higher priority"):
            interrupt(self._database)
        with self._failures.guard("Comparing forecasts of starts with what happened"):
            start_forecasts.follow_starts(self._database, now)
        with self._failures.guard("Removing abandoned uploads"):
            pieces.remove_abandoned(self._settings.files_dir)
        with self._failures.guard("Removing deleted files"):
            remove_waiting(self._database.files_dir)
        with self._failures.guard("Shrinking the database file"):
            release_free_space(self._database)
        with self._failures.guard("Deleting workers that are gone"):
            delete_gone_workers(self._database, now)
        with self._failures.guard("Deleting expired idempotency keys"):
            delete_expired_keys(self._database, now)
        with self._failures.guard("Deleting ended sessions and old entries of the audit log"):
            self._delete_ended(now)
        with self._failures.guard("Checking the conditions of alerts"):
            self._conditions.check(now)
        with self._failures.guard("Deleting old alerts"):
            delete_old_alerts(self._database, now)
        with self._failures.guard("Deleting unused files of artifacts"):
            self._delete_unused_files(now)
        may_rest = self._is_quiet and not self._failures.has_failures
        return math.inf if may_rest else self._settings.sweep_seconds

    def _delete_ended(self, now: datetime) -> None:
        """Delete ended sessions, links, tokens, logins, old forecasts and entries of the audit log, once in an hour."""
        if self._ended_deleted is None or now - self._ended_deleted >= ENDED_INTERVAL:
            self._ended_deleted = now
            with self._database.write() as session:
                audit.delete_old(session, now, self._settings.audit_days)
                sign_in.delete_ended(session, now)
                tokens.delete_ended(session, now)
                device_login.delete_ended(session, now)
                start_forecasts.delete_old(session, now)

    def _delete_unused_files(self, now: datetime) -> None:
        """Delete the files that no artifact names, rarely because it reads the rows of all of them."""
        if self._unused_files_checked is None or now - self._unused_files_checked >= UNUSED_FILES_INTERVAL:
            self._unused_files_checked = now
            delete_unused_files(self._database, now)

    def _ring(self, now: datetime) -> None:
        """Ring for waiting runs and jobs, and announce workers that disconnected."""
        with self._database.read() as session:
            rings = _rings(session, now)
            connected = {worker.name for worker in connected_workers(session, now)}
        for worker, task, number in rings:
            self._doorbell.ring(private_queue(worker), number, task)
        for name in self._connected - connected:
            publish("worker.changed", {"name": name})
        self._connected = connected
        # A lease ends without a notice, and a doorbell may be lost. Open pages show soon that a worker is gone.
        is_watching = any(silence.is_watching for silence in self._silences) or (connected and has_pages())
        self._is_quiet = not rings and not is_watching

    def end_silent_attempts(self, now: datetime) -> None:
        """End the attempts at runs and jobs whose workers have been silent for too long."""
        for kind, silence in zip(_KINDS, self._silences, strict=True):
            with self._failures.guard(f"Reading the leases of {kind.noun}s"):
                self._end_silent(kind, silence, now)

    def _end_silent(self, kind: "_AssignmentKind", silence: SilenceDetector, now: datetime) -> None:
        model = kind.model
        with self._database.read() as session:
            query = select(model.id, model.attempt, model.lease_expires_at).where(
                model.state.in_(kind.active), model.lease_expires_at.is_not(None), *kind.conditions
            )
            leases = {(row.id, row.attempt): row.lease_expires_at for row in session.execute(query)}
        for held in silence.silent(leases, now):
            with self._failures.guard(f"Ending the attempt at {kind.noun} {held[0]}"):
                self._end_attempt(kind, held, leases[held])

    def _end_attempt(self, kind: "_AssignmentKind", held: AttemptKey, lease: datetime) -> None:
        """End an attempt as lost, unless its lease was renewed in the meantime."""
        number, attempt = held
        with self._database.write() as session, suppress(NotFound):
            row = kind.locked(session, number)
            if row.attempt == attempt and row.lease_expires_at == lease and row.state in kind.active:
                held_by = f"worker {row.worker}" if row.worker else "its script"
                after_commit(session, lambda: log.warning("%s %d: %s fell silent", kind.noun, number, held_by))
                kind.lose(session, self._settings, row)
                self._doorbell.ring_after_commit(session, row)


@dataclass(frozen=True)
class _AssignmentKind:
    """Rules for a kind of assignment: how to lock it, and how to end the attempt of a silent worker or script."""

    noun: str
    model: type[Run] | type[Job]
    active: tuple[str, ...]
    locked: Callable[[Session, int], Any]
    lose: Callable[[Session, Settings, Any], None]
    limit: Callable[[Settings], float] = attrgetter("lease_seconds")
    conditions: tuple[ColumnElement[bool], ...] = ()


_find_locked_run = partial(find_run, lock=True)
_KINDS = (
    _AssignmentKind("run", Run, ACTIVE, _find_locked_run, runs.RUNS.lose, conditions=(Run.origin == "trained",)),
    _AssignmentKind("job", Job, ("running",), partial(find_job, lock=True), jobs.JOBS.lose),
    _AssignmentKind(
        "reported run",
        Run,
        ("running",),
        _find_locked_run,
        fail_silent,
        attrgetter("reported_silence_seconds"),
        (Run.origin != "trained",),
    ),
)


def ring_worker(session: Session, doorbell: Doorbell, name: str) -> None:
    """Ring after the commit for the work that waits for one worker."""
    for worker, task, number in _rings(session, utc_now()):
        if worker == name:
            after_commit(session, partial(doorbell.ring, private_queue(worker), number, task))


def _rings(session: Session, now: datetime) -> list[tuple[str, str, int]]:
    """Return a worker name, a task and a run or job id for each connected worker that has a free slot for it."""
    takers = open_workers(session, now)
    waiting = {queue: _waiting_run(session, queue) for queue in {worker.queue for worker in takers}}
    idle = [worker for worker in takers if worker.run_id is None]
    rings = [(worker.name, LOOK_TASK, run) for worker in idle if (run := waiting[worker.queue]) is not None]
    running, takers = running_jobs(session), job_takers(session, now)
    queued = select(func.min(Job.id), Job.kind).where(Job.state == "queued").group_by(Job.kind)
    for job_id, kind in session.execute(queued):
        free = [worker.name for worker in takers if free_job_slots(worker, running, kind)]
        rings += [(name, LOOK_FOR_JOBS_TASK, job_id) for name in free]
    return rings


def _waiting_run(session: Session, queue: QueueName) -> int | None:
    query = select(Run.id).where(Run.state == "queued", Run.queue == queue, Run.executor == WORKERS)
    return session.scalar(query.order_by(*QUEUE_ORDER).limit(1))

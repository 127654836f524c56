"""Attempts at runs and jobs: a claim starts one, and a release or an expired lease ends it.

`runs.py` and `jobs.py` have what differs.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import ColumnElement, select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Attempt, Checkpoint, Installation, Job, Run, RunSubmission
from arcadia_backend.errors import Problem
from arcadia_backend.workers import takes_work
from arcadia_workers.contract.worker_api import STALE_ATTEMPT, OfferedCheckpoint, Outcome, Release

Row = TypeVar("Row", Run, Job)

# The response to a claim may be lost, so the first lease is this share of a full lease. The first heartbeat renews it.
FIRST_LEASE_SHARE = 1 / 4
# Rows are usually locked for milliseconds, such as by events of their evaluations. A longer lock must not block the
# queue.
LOCK_WAIT_MS = 2_000
LOCK_NOT_AVAILABLE = "55P03"


class StaleAttempt(Problem):
    """A call names an attempt that has ended."""

    status = 409
    kind = STALE_ATTEMPT
    title = "The attempt has ended"


# The run of the token of a job that only checks the connection. There is no such run.
CHECKED_RUN = 0


def is_worker_of(name: str, run_id: int) -> bool:
    """Return True for the names of workers that train only this run, in the job of a scheduler."""
    return re.fullmatch(rf".+\.run-{run_id}(-\d+)?", name) is not None


def is_job_worker(name: str, number: int) -> bool:
    """Return True for the names of the worker that does jobs in a job of a scheduler."""
    return name.endswith(f".jobs-{number}")


def require_own_attempt(session: Session, held: Run | Job, attempt: int) -> None:
    """Raise StaleAttempt if the caller's token is of another attempt, or of another job of a scheduler."""
    scope = current()
    own = scope.attempt if isinstance(held, Run) else scope.job
    if scope.submission is not None and isinstance(held, Run):
        # A job that its scheduler starts again has later attempts, until another job is submitted for the run.
        first = scope.submission[1]
        submitted = RunSubmission.run_id == held.id, RunSubmission.attempt > first, RunSubmission.attempt <= attempt
        row = session.get(Attempt, (held.id, attempt))
        is_own = row is not None and attempt >= first and is_worker_of(row.worker or "", held.id)
        is_own = is_own and session.scalar(select(RunSubmission.id).where(*submitted).limit(1)) is None
    elif scope.job_worker is not None:
        is_own = isinstance(held, Job) and is_job_worker(held.worker or "", scope.job_worker)
    else:
        is_own = own == (held.id, attempt) or (scope.attempt, scope.job, scope.submission) == (None, None, None)
    if not is_own:
        raise StaleAttempt(f"This token is not for attempt {attempt}. Each attempt has its own. Stop its process.")


def stale_attempt(held: Run | Job, attempt: int) -> StaleAttempt:
    """Return the problem that makes a worker end its process for an assignment."""
    noun = "run" if isinstance(held, Run) else "job"
    return StaleAttempt(
        f"Attempt {attempt} at {noun} {held.id} has ended. The {noun} is {held.state} at attempt {held.attempt}. "
        "Stop its process."
    )


def claim_first(
    session: Session,
    settings: Settings,
    table: type[Row],
    waiting: Sequence[ColumnElement[bool]],
    first: Callable[[ColumnElement[bool]], int | None],
    worker: str,
    changes: Mapping[str, Any],
) -> Row | None:
    """Claim the first waiting row for a worker with a conditional UPDATE, or return None if no row waits.

    `first` returns the id of the first waiting row that meets another condition. A paused worker claims nothing.
    Wait for a row that is locked, because to skip it would break the order of the queue. A row that stays locked
    longer than `LOCK_WAIT_MS` is left for the next claim.
    """
    if not takes_work(session, worker):
        return None
    skipped: list[int] = []
    while (row_id := first(table.id.not_in(skipped))) is not None:
        claim = (
            update(table)
            .where(table.id == row_id, *waiting)
            .values(
                worker=worker,
                attempt=table.attempt + 1,
                lease_expires_at=utc_now() + timedelta(seconds=FIRST_LEASE_SHARE * settings.lease_seconds),
                **changes,
            )
            .execution_options(synchronize_session=False)
        )
        savepoint = session.begin_nested()
        try:
            _limit_lock_wait(session, f"{LOCK_WAIT_MS}ms")
            if session.execute(claim.returning(table.id)).scalar_one_or_none() is not None:
                _limit_lock_wait(session, "DEFAULT")
                savepoint.commit()
                return session.get_one(table, row_id)
        except OperationalError as error:
            savepoint.rollback()
            if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
            skipped.append(row_id)
        else:
            # Another transaction changed the row first. Release its lock, since others lock rows in another order.
            savepoint.rollback()
    return None


def _limit_lock_wait(session: Session, limit: str) -> None:
    """Limit how long a statement waits for a lock until the savepoint ends. SQLite has no row locks."""
    if session.connection().dialect.name == "postgresql":
        quoted = limit if limit == "DEFAULT" else f"'{limit}'"
        session.execute(text(f"SET LOCAL lock_timeout TO {quoted}"))


def count_loss(held: Run | Job, settings: Settings, reason: str) -> tuple[bool, str]:
    """Count a lost attempt. Return whether the assignment may be queued again, and a message that says so."""
    if held.requeues >= settings.max_requeues:
        return False, f"{reason} It was put back in the queue {held.requeues} times already, which is the limit."
    held.requeues += 1
    return True, f"{reason} Back in the queue, {held.requeues} of at most {settings.max_requeues} times."


def read_installation_id(session: Session) -> str:
    """Return the id of this installation, which a worker sends with every call about an assignment."""
    return session.scalar(select(Installation.identity)) or ""


def offer(checkpoint: Checkpoint) -> OfferedCheckpoint:
    """Return a checkpoint as workers see it."""
    return OfferedCheckpoint(
        id=checkpoint.file_id or 0,
        file=checkpoint.file,
        sha256=checkpoint.sha256,
        bytes=checkpoint.bytes,
        step=checkpoint.step,
        frames=checkpoint.frames,
    )


class Attempts(ABC, Generic[Row]):
    """Attempts at one kind of assignment: runs or jobs."""

    # The states in which a worker holds the assignment.
    active: ClassVar[tuple[str, ...]]

    @abstractmethod
    def find(self, session: Session, row_id: int, *, lock: bool = False) -> Row:
        """Return the run or job. With `lock`, lock it until the transaction ends."""

    @abstractmethod
    def may_continue(self, held: Row) -> bool:
        """Return True if the worker of the last attempt fell silent and no other attempt has started."""

    @abstractmethod
    def make_active(self, session: Session, held: Row) -> None:
        """Return the assignment to the worker that fell silent but still works on it."""

    @abstractmethod
    def reported_outcome(self, session: Session, held: Row) -> Outcome | None:
        """Return how the process of the active attempt reported that it ended, or None."""

    @abstractmethod
    def store_traceback(self, session: Session, held: Row, traceback: str) -> None:
        """Store the traceback of a release."""

    @abstractmethod
    def compare_outcome(self, session: Session, held: Row, ended: Release) -> None:
        """Log a repeated release whose outcome differs from that of the first one."""

    @abstractmethod
    def finish(self, session: Session, held: Row) -> None:
        """End an assignment whose process has finished."""

    @abstractmethod
    def fail(self, session: Session, held: Row, message: str | None) -> None:
        """Fail an assignment."""

    @abstractmethod
    def give_back(self, session: Session, held: Row, outcome: Outcome, message: str) -> None:
        """Queue an assignment again, or end it as requested, after its process stopped or was lost."""

    @abstractmethod
    def after_end(self, session: Session, held: Row, worker: str | None, outcome: Outcome) -> None:
        """Do what follows from the end of an attempt."""

    @abstractmethod
    def keep_lease(self, session: Session, held: Row, worker: str | None, lease: datetime | None) -> None:
        """Restore the lease of a silent worker if it may still continue."""

    def is_of(self, held: Row, attempt: int) -> bool:
        """Return True if this is the last attempt at an assignment of workers."""
        return held.attempt == attempt

    def is_current(self, held: Row, attempt: int) -> bool:
        """Return True if an attempt is active or may continue."""
        return self.is_of(held, attempt) and (held.state in self.active or self.may_continue(held))

    def continue_if_silent(self, session: Session, held: Row) -> None:
        """Make the attempt active again if its worker fell silent."""
        if self.may_continue(held):
            self.make_active(session, held)

    def current(self, session: Session, row_id: int, attempt: int, *, lock: bool = False) -> Row:
        """Return the run or job if the attempt is active or may continue. With `lock`, make it active again.

        Raise StaleAttempt otherwise.
        """
        held = self.find(session, row_id, lock=lock)
        require_own_attempt(session, held, attempt)
        if not self.is_current(held, attempt):
            raise stale_attempt(held, attempt)
        if lock:
            self.continue_if_silent(session, held)
        return held

    def release(self, session: Session, settings: Settings, row_id: int, ended: Release) -> Row:
        """End the attempt of a worker. A repeated call changes nothing, and is logged if its outcome differs."""
        held = self.find(session, row_id, lock=True)
        require_own_attempt(session, held, ended.attempt)
        if not self.is_of(held, ended.attempt):
            raise stale_attempt(held, ended.attempt)
        self.continue_if_silent(session, held)
        if held.state in self.active:
            if ended.traceback is not None:
                self.store_traceback(session, held, ended.traceback)
            self.conclude(session, settings, held, ended.outcome, ended.message)
        else:
            self.compare_outcome(session, held, ended)
        return held

    def lose(self, session: Session, settings: Settings, held: Row) -> None:
        """End the attempt of a silent worker. Keep its lease, which marks that the worker may still continue."""
        worker, lease = held.worker, held.lease_expires_at
        self.conclude(session, settings, held, "lost")
        self.keep_lease(session, held, worker, lease)

    def conclude(
        self, session: Session, settings: Settings, held: Row, outcome: Outcome, message: str | None = None
    ) -> None:
        """End the active attempt. Its outcome and the desired state decide the next state."""
        if outcome == "lost":
            # The process may have reported how it ended before its worker was lost.
            outcome = self.reported_outcome(session, held) or "lost"
        worker, held.worker, held.lease_expires_at = held.worker, None, None
        if outcome == "finished":
            self.finish(session, held)
        elif outcome == "failed":
            self.fail(session, held, message)
        elif outcome == "lost" and held.desired == "run":
            may_requeue, reason = count_loss(held, settings, message or f"Worker {worker} fell silent.")
            if may_requeue:
                self.give_back(session, held, outcome, reason)
            else:
                self.fail(session, held, reason)
        else:
            self.give_back(session, held, outcome, message or f"Worker {worker} was shut down.")
        self.after_end(session, held, worker, outcome)

"""Attempts at runs: a claim starts one, and a release or an expired lease ends it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, SQLColumnExpression, select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.alerts.service import raise_run_end
from backend.changes import has_steps_left, list_requested
from backend.checkpoints.service import list_resumable
from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Checkpoint, Installation, Job, Run, Worker
from backend.errors import Problem
from backend.logs import note
from backend.runs import queries
from backend.runs.states import announce_run, queue_again, state_after_release
from backend.web.lookup import find_run
from backend.workers import announce_worker, can_be_done_by
from workers.contract.worker_api import (
    ACTIVE,
    ENDED,
    STALE_ATTEMPT,
    Claim,
    OfferedCheckpoint,
    Outcome,
    QueueName,
    Release,
)

Assignment = TypeVar("Assignment", Run, Job)

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
    table: type[Assignment],
    waiting: Sequence[ColumnElement[bool]],
    order: Sequence[SQLColumnExpression[Any]],
    worker: str,
    changes: Mapping[str, Any],
) -> Assignment | None:
    """Claim the first waiting row for a worker with a conditional UPDATE, or return None if no row waits.

    Wait for a row that is locked, because to skip it would break the order of the queue. A row that stays locked
    longer than `LOCK_WAIT_MS` is left for the next claim.
    """
    skipped: list[int] = []
    first = select(table.id).where(*waiting).order_by(*order).limit(1)
    while (row_id := session.scalar(first.where(table.id.not_in(skipped)))) is not None:
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


QUEUE_ORDER = (Run.priority.desc(), Run.created_at, Run.id)


def current_run(session: Session, run_id: int, attempt: int, *, lock: bool = False) -> Run:
    """Return the run if the attempt is active or may continue. With `lock`, make it active again.

    Raise StaleAttempt otherwise.
    """
    run = find_run(session, run_id, lock=lock)
    if run.origin != "trained" or run.attempt != attempt or not (run.state in ACTIVE or may_continue(run)):
        raise stale_attempt(run, attempt)
    if lock and run.state not in ACTIVE:
        _continue(session, run)
    return run


def may_continue(run: Run) -> bool:
    """Return True if the worker of the last attempt fell silent and no other attempt has started."""
    return run.state not in ACTIVE and run.lease_expires_at is not None and run.archived_at is None


def _continue(session: Session, run: Run) -> None:
    """Return a run to the worker that fell silent but still trains it. The sweeper watches its lease again."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    attempt.outcome = attempt.ended_at = None
    run.state, run.state_reason = "running" if attempt.started_at else "starting", None
    run.worker, run.finished_at, run.failure_message = attempt.worker, None, None
    session.execute(update(Worker).where(Worker.name == run.worker).values(run_id=run.id))
    note(session, run, f"Worker {run.worker} is back and continues attempt {run.attempt}.")
    announce_run(session, run.id, "run.changed", "run.log")
    if run.worker is not None:
        announce_worker(session, run.worker)


def claim(session: Session, settings: Settings, worker: str, queue: QueueName) -> Claim | None:
    """Claim the first waiting run of a queue for a worker, or return None if no run waits."""
    run = claim_first(
        session,
        settings,
        Run,
        (Run.state == "queued", Run.queue == queue, can_be_done_by(session, worker, Run)),
        QUEUE_ORDER,
        worker,
        {
            "state": "starting",
            "state_reason": None,
            "finished_at": None,
            "steps_per_second": None,
            "seconds_left": None,
        },
    )
    if run is None:
        return None
    attempt = Attempt(run_id=run.id, attempt=run.attempt, worker=worker)
    queries.record_claim(run, attempt, utc_now())
    session.add(attempt)
    note(session, run, f"Taken by worker {worker}, attempt {run.attempt}.")
    session.execute(
        update(Worker).where(Worker.name == worker).values(run_id=run.id, last_seen_at=utc_now(), left=False)
    )
    announce_run(session, run.id, "run.changed", "run.log")
    announce_worker(session, worker)
    return Claim(
        run_id=run.id,
        attempt=run.attempt,
        config=run.config,
        lease_seconds=settings.lease_seconds,
        checkpoints=[offer(checkpoint) for checkpoint in list_resumable(session, run)],
        changes=list_requested(session, run.id),
        installation=read_installation_id(session),
    )


def release(session: Session, settings: Settings, run_id: int, ended: Release) -> Run:
    """End the attempt of a worker at a run. A repeated call changes nothing, and is logged if its outcome differs."""
    run = find_run(session, run_id, lock=True)
    if run.origin != "trained" or run.attempt != ended.attempt:
        raise stale_attempt(run, ended.attempt)
    if may_continue(run):
        _continue(session, run)
    if run.state in ACTIVE:
        if ended.traceback is not None:
            session.get_one(Attempt, (run.id, run.attempt)).failure_traceback = ended.traceback
        conclude(session, settings, run, ended.outcome, ended.message)
    else:
        _compare_outcome(session, run, ended)
    return run


def _compare_outcome(session: Session, run: Run, ended: Release) -> None:
    """Log a repeated release whose outcome differs from that of the first one."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    # What the trainer reported counts more than that its worker lost it.
    if ended.outcome in (attempt.outcome, "lost"):
        return
    reason = f" ({ended.message})" if ended.message else ""
    sentence = (
        f"Worker {attempt.worker} reported the end of attempt {run.attempt} again, now as {ended.outcome}{reason}."
    )
    note(session, run, f"{sentence} The first report counts: {attempt.outcome}.", "warning")
    announce_run(session, run.id, "run.changed", "run.log")


def lose(session: Session, settings: Settings, run: Run) -> None:
    """End the attempt of a silent worker. Keep its lease, which marks that the worker may still continue."""
    lease = run.lease_expires_at
    conclude(session, settings, run, "lost")
    if session.get_one(Attempt, (run.id, run.attempt)).outcome == "lost":
        run.lease_expires_at = lease


def conclude(session: Session, settings: Settings, run: Run, outcome: Outcome, message: str | None = None) -> None:
    """End the active attempt. Its outcome and the desired state decide the run's next state."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    if outcome == "lost" and attempt.outcome is not None:
        # The trainer reported how it ended before its worker was lost.
        outcome = attempt.outcome
    attempt.outcome, attempt.ended_at = outcome, utc_now()
    worker, run.worker, run.lease_expires_at = run.worker, None, None
    run.steps_per_second = run.seconds_left = None
    if outcome == "finished" and has_steps_left(session, run):
        queue_again(run)
        note(session, run, "Back in the queue: more steps were requested when it finished.")
    elif outcome == "finished":
        run.state, run.state_reason = "finished", None
        note(session, run, "Finished.")
    elif outcome == "failed":
        _fail(session, run, message or attempt.failure_message or "The trainer failed without an error message.")
        run.failure_traceback = attempt.failure_traceback
    elif outcome == "lost" and run.desired == "run":
        _requeue_or_fail(session, settings, run, message or f"Worker {worker} fell silent.")
    else:
        _queue_pause_or_stop(
            session, run, (message or f"Worker {worker} was shut down.") if outcome == "drained" else None
        )
    run.finished_at = utc_now() if run.state in ENDED else None
    raise_run_end(session, run)
    if worker is not None:
        session.execute(update(Worker).where(Worker.name == worker, Worker.run_id == run.id).values(run_id=None))
        announce_worker(session, worker)
    announce_run(session, run.id, "run.changed", "run.log")


def _queue_pause_or_stop(session: Session, run: Run, reason: str | None) -> None:
    """Queue, pause or stop a run whose trainer ended on request."""
    run.state, run.state_reason = state_after_release(run.desired), None
    if run.state == "queued":
        queue_again(run, reason)
    sentences = {"queued": "Back in the queue.", "paused": "Paused.", "stopped": "Stopped."}
    note(session, run, " ".join(part for part in (run.state_reason, sentences[run.state]) if part))


def _requeue_or_fail(session: Session, settings: Settings, run: Run, reason: str) -> None:
    may_requeue, message = count_loss(run, settings, reason)
    if not may_requeue:
        _fail(session, run, message)
        return
    queue_again(run, message)
    note(session, run, message, "warning")


def _fail(session: Session, run: Run, message: str) -> None:
    run.state, run.state_reason, run.failure_message = "failed", message, message
    note(session, run, f"Failed: {message}", "error")

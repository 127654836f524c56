"""Claims of runs by workers: begun by one conditional update, guarded by the attempt, ended by release or expiry."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.checkpoints.keeping import resumable
from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Checkpoint, Installation, Run, Worker
from backend.errors import Problem
from backend.logs.service import note
from backend.runs import start_steps
from backend.runs.notices import announce_run
from backend.runs.states import ACTIVE, ENDED, after_release
from backend.web.lookup import find_run
from backend.worker_api.claiming import claim_first
from backend.workers.presence import announce_worker
from workers.contract.worker_api import STALE_ATTEMPT, Claim, OfferedCheckpoint, Outcome, QueueName, Release

QUEUE_ORDER = (Run.priority.desc(), Run.created_at, Run.id)


class StaleAttempt(Problem):
    """Another attempt has the run or the job, or it has ended."""

    status = 409
    kind = STALE_ATTEMPT
    title = "It went to another attempt"


def current_run(session: Session, run_id: int, attempt: int, *, lock: bool = False) -> Run:
    """Return the run if this attempt is active or may continue. A locked run is active afterwards."""
    run = find_run(session, run_id, lock=lock)
    if run.attempt != attempt or not (run.state in ACTIVE or may_continue(run)):
        raise stale(run, attempt)
    if lock and run.state not in ACTIVE:
        _continue(session, run)
    return run


def may_continue(run: Run) -> bool:
    """Return True if the last attempt fell silent and no other began: its worker may come back with what it trained."""
    return run.state not in ACTIVE and run.lease_expires_at is not None and run.archived_at is None


def _continue(session: Session, run: Run) -> None:
    """Give a run back to the worker that fell silent and still trains it. The sweeper watches its lease again."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    attempt.outcome = attempt.ended_at = None
    run.state, run.state_reason = "running" if attempt.started_at else "starting", None
    run.worker, run.finished_at, run.failure_message = attempt.worker, None, None
    session.execute(update(Worker).where(Worker.name == run.worker).values(run_id=run.id))
    note(session, run, f"Worker {run.worker} is back and continues attempt {run.attempt}.")
    announce_run(session, run.id, "run.changed", "run.log")
    announce_worker(session, run.worker)


def stale(run: Run, attempt: int) -> StaleAttempt:
    """The problem that makes a worker kill its trainer."""
    return StaleAttempt(
        f"Attempt {attempt} of run {run.id} is over; the run is {run.state} at attempt {run.attempt}. Stop the trainer."
    )


def claim(session: Session, settings: Settings, worker: str, queue: QueueName) -> Claim | None:
    """Hand the best waiting run of a queue to a worker; None when none waits."""
    claimed = claim_first(
        session,
        settings,
        Run,
        (Run.state == "queued", Run.queue == queue),
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
    if claimed is None:
        return None
    run = session.get_one(Run, claimed)
    attempt = Attempt(run_id=run.id, attempt=run.attempt, worker=worker)
    start_steps.claimed(run, attempt, utc_now())
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
        checkpoints=[offered(row) for row in resumable(session, run)],
        installation=identity(session),
    )


def release(session: Session, settings: Settings, run_id: int, ended: Release) -> Run:
    """Take a run back from its worker; a repeated call changes nothing."""
    run = find_run(session, run_id, lock=True)
    if run.attempt != ended.attempt:
        raise stale(run, ended.attempt)
    if may_continue(run):
        _continue(session, run)
    if run.state in ACTIVE:
        if ended.traceback is not None:
            session.get_one(Attempt, (run.id, run.attempt)).failure_traceback = ended.traceback
        conclude(session, settings, run, ended.outcome, ended.message)
    return run


def lose(session: Session, settings: Settings, run: Run) -> None:
    """End the attempt of a silent worker. Keep its lease as the mark that the worker may still continue it."""
    lease = run.lease_expires_at
    conclude(session, settings, run, "lost")
    if session.get_one(Attempt, (run.id, run.attempt)).outcome == "lost":
        run.lease_expires_at = lease


def conclude(session: Session, settings: Settings, run: Run, outcome: Outcome, message: str | None = None) -> None:
    """End the active attempt; its outcome and the user's wish decide the run's next state."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    if outcome == "lost" and attempt.outcome is not None:
        # The trainer had reported its end before its worker was lost.
        outcome = attempt.outcome
    attempt.outcome, attempt.ended_at = outcome, utc_now()
    worker, run.worker, run.lease_expires_at = run.worker, None, None
    run.steps_per_second = run.seconds_left = None
    if outcome == "finished":
        run.state, run.state_reason = "finished", None
        note(session, run, "Finished.")
    elif outcome == "failed":
        _fail(session, run, message or attempt.failure_message or "The trainer failed without an error message.")
        run.failure_traceback = attempt.failure_traceback
    elif outcome == "lost" and run.desired == "run":
        _requeue_or_give_up(session, settings, run, message or f"Worker {worker} fell silent.")
    else:
        _lay_down(session, run, (message or f"Worker {worker} was shut down.") if outcome == "drained" else None)
    run.finished_at = utc_now() if run.state in ENDED else None
    if worker is not None:
        session.execute(update(Worker).where(Worker.name == worker, Worker.run_id == run.id).values(run_id=None))
        announce_worker(session, worker)
    announce_run(session, run.id, "run.changed", "run.log")


def _lay_down(session: Session, run: Run, reason: str | None) -> None:
    """Queue, pause or stop a run whose trainer saved its state and ended on request."""
    run.state = after_release(run.desired)
    run.state_reason = reason if run.state == "queued" else None
    if run.state == "queued":
        run.queued_at = utc_now()
    words = {"queued": "Back in the queue.", "paused": "Paused.", "stopped": "Stopped."}
    note(session, run, " ".join(part for part in (run.state_reason, words[run.state]) if part))


def _requeue_or_give_up(session: Session, settings: Settings, run: Run, reason: str) -> None:
    if run.requeues >= settings.max_requeues:
        _fail(session, run, f"{reason} That was once too often: it has been put back {run.requeues} times already.")
        return
    run.requeues += 1
    run.state, run.queued_at = "queued", utc_now()
    run.state_reason = f"{reason} Back in the queue, {run.requeues} of at most {settings.max_requeues} times."
    note(session, run, run.state_reason, "warning")


def _fail(session: Session, run: Run, message: str) -> None:
    run.state, run.state_reason, run.failure_message = "failed", message, message
    note(session, run, f"Failed: {message}", "error")


def identity(session: Session) -> str:
    """The installation's, which a worker names with every call about what it was given."""
    return session.scalar(select(Installation.identity)) or ""


def offered(row: Checkpoint) -> OfferedCheckpoint:
    """A checkpoint as a worker is offered it."""
    return OfferedCheckpoint(
        id=row.file_id or 0, file=row.file, sha256=row.sha256, bytes=row.bytes, step=row.step, frames=row.frames
    )

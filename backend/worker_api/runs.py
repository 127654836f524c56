"""Attempts at runs: a claim starts one, and a release or an expired lease ends it."""

from sqlalchemy import update
from sqlalchemy.orm import Session

from backend.alerts.service import raise_run_end
from backend.changes.queries import list_requested
from backend.changes.service import has_steps_left
from backend.checkpoints.service import list_resumable
from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Run, Worker
from backend.logs.service import note
from backend.runs import start_steps
from backend.runs.notices import announce_run
from backend.runs.states import queue_again, state_after_release
from backend.web.lookup import find_run
from backend.worker_api.assignments import claim_first, count_loss, offer, read_installation_id, stale_attempt
from backend.workers.plugins import can_be_done_by
from backend.workers.presence import announce_worker
from workers.contract.worker_api import ACTIVE, ENDED, Claim, Outcome, QueueName, Release

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
    start_steps.record_claim(run, attempt, utc_now())
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

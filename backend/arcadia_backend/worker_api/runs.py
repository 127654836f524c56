"""Attempts at runs."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from arcadia_backend import usage
from arcadia_backend.alerts.service import raise_run_end
from arcadia_backend.caps import may_start
from arcadia_backend.changes import has_steps_left, list_requested
from arcadia_backend.checkpoints.service import list_resumable
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.rights import MissingRight
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Attempt, Run, RunSubmission, Usage, Worker
from arcadia_backend.errors import Conflict
from arcadia_backend.logs import note
from arcadia_backend.runs.needs import read_fit
from arcadia_backend.runs.start_steps import record_claim
from arcadia_backend.runs.states import announce_run, queue_again, state_after_release
from arcadia_backend.runs.waiting import first_waiting
from arcadia_backend.web.lookup import find_run
from arcadia_backend.worker_api.attempts import (
    FIRST_LEASE_SHARE,
    Attempts,
    StaleAttempt,
    claim_first,
    is_worker_of,
    offer,
    read_installation_id,
)
from arcadia_backend.workers import announce_worker, can_be_done_by, missing_reason
from arcadia_workers.contract.worker_api import (
    ACTIVE,
    ENDED,
    WORKERS,
    Claim,
    Outcome,
    QueueName,
    Release,
    RunClaimRequest,
)


def claim(session: Session, settings: Settings, worker: str, queue: QueueName) -> Claim | None:
    """Claim the first waiting run of a queue for a worker. Return None if no run waits or the worker is paused."""
    is_waiting = (Run.state == "queued", Run.queue == queue, Run.executor == WORKERS)
    waiting: tuple[ColumnElement[bool], ...] = (*is_waiting, can_be_done_by(session, worker, Run), may_start(session))
    fit = read_fit(session, worker, queue, lambda condition: first_waiting(session, queue, (*waiting, condition)))
    waiting = (*waiting, *fit.conditions)

    def first(condition: ColumnElement[bool]) -> int | None:
        return first_waiting(session, queue, (*waiting, condition))

    run = claim_first(session, settings, Run, waiting, first, worker, _CLAIMED)
    if run is None:
        return None
    run.gpu = fit.gpu_of(run)
    return _begin(session, settings, run, worker)


def claim_one(session: Session, settings: Settings, run_id: int, wanted: RunClaimRequest) -> Claim | StaleAttempt:
    """Claim one run for the job of a scheduler. The caller raises a returned StaleAttempt after the commit.

    Schedulers do not start a job exactly once. The later claim of a job wins: it ends the attempt of the earlier one.
    """
    run = find_run(session, run_id, lock=True)
    submission = current().submission
    if submission and not (submission == (run_id, wanted.attempt) and is_worker_of(wanted.name, run_id)):
        raise MissingRight(f"This token is only for attempt {submission[1]} at run {submission[0]}.")
    if (refusal := _why_not_claimable(session, run, wanted.attempt)) is not None:
        return StaleAttempt(refusal)
    if run.state in ACTIVE:
        RUNS.conclude(session, settings, run, "lost", f"The job of attempt {run.attempt} was started again.")
    if run.state != "queued":
        return StaleAttempt(_nothing_to_do(run))
    worker = session.get(Worker, wanted.name)
    if worker is not None and (missing := missing_reason([worker], run.needed_plugins, "job of this run")):
        raise Conflict(missing)
    for column, value in _CLAIMED.items():
        setattr(run, column, value)
    run.worker, run.attempt = wanted.name, max(run.attempt + 1, wanted.attempt)
    run.lease_expires_at = utc_now() + timedelta(seconds=FIRST_LEASE_SHARE * settings.lease_seconds)
    return _begin(session, settings, run, wanted.name)


def _why_not_claimable(session: Session, run: Run, attempt: int) -> str | None:
    """Return why the job that was submitted for an attempt must not train a run, or None if it may."""
    if run.origin != "trained" or run.archived_at is not None:
        return _nothing_to_do(run)
    if run.executor == WORKERS:
        is_next = run.state == "queued" and attempt == run.attempt + 1
        return None if is_next else f"{_nothing_to_do(run)} Its next attempt is {run.attempt + 1}."
    is_open = (RunSubmission.run_id == run.id, RunSubmission.attempt == attempt, RunSubmission.state != "ended")
    submission = session.scalar(select(RunSubmission).where(*is_open))
    if submission is None:
        return f"{_nothing_to_do(run)} No job of it was submitted for attempt {attempt}, or that one has ended."
    return f"The job of run {run.id} is being cancelled." if submission.state == "cancelling" else None


def _nothing_to_do(run: Run) -> str:
    return f"There is nothing to do: run {run.id} is {run.state} at attempt {run.attempt}."


# The columns that a claim resets.
_CLAIMED: dict[str, Any] = {
    "state": "starting",
    "state_reason": None,
    "finished_at": None,
    "steps_per_second": None,
    "seconds_left": None,
    "gpu": None,
    "interrupted_for": None,
}


def _begin(session: Session, settings: Settings, run: Run, worker: str) -> Claim:
    """Begin the attempt of a run that a worker has claimed."""
    attempt = Attempt(run_id=run.id, attempt=run.attempt, worker=worker)
    record_claim(run, attempt, utc_now())
    session.add(attempt)
    usage.begin_run(session, run)
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
        gpu=run.gpu,
    )


def _active_attempt(session: Session, run: Run) -> Attempt:
    return session.get_one(Attempt, (run.id, run.attempt))


class RunAttempts(Attempts[Run]):
    """Attempts at runs. Each is stored as a row."""

    active = ACTIVE

    def find(self, session: Session, row_id: int, *, lock: bool = False) -> Run:
        return find_run(session, row_id, lock=lock)

    def is_of(self, held: Run, attempt: int) -> bool:
        return held.origin == "trained" and held.attempt == attempt

    def may_continue(self, held: Run) -> bool:
        return held.state not in ACTIVE and held.lease_expires_at is not None and held.archived_at is None

    def make_active(self, session: Session, held: Run) -> None:
        attempt = _active_attempt(session, held)
        attempt.outcome = attempt.ended_at = None
        usage.resume(session, Usage.run_id == held.id, usage.OF_ATTEMPT, Usage.attempt == held.attempt)
        held.state, held.state_reason = "running" if attempt.started_at else "starting", None
        held.worker, held.finished_at, held.failure_message = attempt.worker, None, None
        session.execute(update(Worker).where(Worker.name == held.worker).values(run_id=held.id))
        note(session, held, f"Worker {held.worker} is back and continues attempt {held.attempt}.")
        announce_run(session, held.id, "run.changed", "run.log")
        if held.worker is not None:
            announce_worker(session, held.worker)

    def reported_outcome(self, session: Session, held: Run) -> Outcome | None:
        return _active_attempt(session, held).outcome

    def store_traceback(self, session: Session, held: Run, traceback: str) -> None:
        _active_attempt(session, held).failure_traceback = traceback

    def compare_outcome(self, session: Session, held: Run, ended: Release) -> None:
        attempt = _active_attempt(session, held)
        # The outcome that the trainer reported counts more than the loss of its worker.
        if ended.outcome in (attempt.outcome, "lost"):
            return
        reason = f" ({ended.message})" if ended.message else ""
        sentence = (
            f"Worker {attempt.worker} reported the end of attempt {held.attempt} again, now as {ended.outcome}{reason}."
        )
        note(session, held, f"{sentence} The first report counts: {attempt.outcome}.", "warning")
        announce_run(session, held.id, "run.changed", "run.log")

    def finish(self, session: Session, held: Run) -> None:
        if has_steps_left(session, held):
            queue_again(held)
            note(session, held, "Back in the queue: more steps were requested when it finished.")
        else:
            held.state, held.state_reason = "finished", None
            note(session, held, "Finished.")

    def fail(self, session: Session, held: Run, message: str | None) -> None:
        attempt = _active_attempt(session, held)
        message = message or attempt.failure_message or "The trainer failed without an error message."
        held.state, held.state_reason, held.failure_message = "failed", message, message
        held.failure_traceback = attempt.failure_traceback
        note(session, held, f"Failed: {message}", "error")

    def give_back(self, session: Session, held: Run, outcome: Outcome, message: str) -> None:
        if outcome == "lost" and held.desired == "run":
            queue_again(held, message)
            note(session, held, message, "warning")
            return
        reason = message if outcome == "drained" else None
        if outcome == "drained" and held.interrupted_for is not None:
            reason = f"Interrupted by run {held.interrupted_for}, which has a higher priority."
        held.state, held.state_reason = state_after_release(held.desired), None
        if held.state == "queued":
            queue_again(held, reason)
        sentences = {"queued": "Back in the queue.", "paused": "Paused.", "stopped": "Stopped."}
        note(session, held, " ".join(part for part in (held.state_reason, sentences[held.state]) if part))

    def after_end(self, session: Session, held: Run, worker: str | None, outcome: Outcome) -> None:
        attempt = _active_attempt(session, held)
        attempt.outcome, attempt.ended_at = outcome, utc_now()
        usage.end(session, Usage.run_id == held.id, usage.OF_ATTEMPT)
        held.steps_per_second = held.seconds_left = None
        held.finished_at = utc_now() if held.state in ENDED else None
        raise_run_end(session, held)
        if worker is not None:
            session.execute(update(Worker).where(Worker.name == worker, Worker.run_id == held.id).values(run_id=None))
            announce_worker(session, worker)
        announce_run(session, held.id, "run.changed", "run.log")

    def keep_lease(self, session: Session, held: Run, _worker: str | None, lease: datetime | None) -> None:
        if _active_attempt(session, held).outcome == "lost":
            held.lease_expires_at = lease


RUNS = RunAttempts()

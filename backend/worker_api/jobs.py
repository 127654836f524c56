"""Attempts at jobs: a claim starts one, and a release or an expired lease ends it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend import calibrations, futures, jobs, kept_games, saliency, start_sets
from backend.checkpoints.service import prune_after_job
from backend.config import Settings
from backend.database.tables import Checkpoint, Job, Run
from backend.evaluations import service as evaluations
from backend.evaluations.service import offer_start_set
from backend.events import EventConflict, digest_of_event, refuse_other_kinds, take_unstored, to_datetime
from backend.jobs import ORDER
from backend.logs import note
from backend.replays.service import discard_recording, has_recording, keep_recording
from backend.web.lookup import find_job
from backend.worker_api.runs import claim_first, count_loss, offer, read_installation_id, stale_attempt
from backend.workers import can_be_done_by
from workers.contract import events as ev
from workers.contract.worker_api import EventBatch, JobClaim, JobKind, Outcome, Release


def claim(session: Session, settings: Settings, worker: str) -> JobClaim | None:
    """Claim the first waiting job for a worker, or return None if no job waits."""
    # Clear everything of the previous attempt.
    fresh = {"state": "running", "last_seq": 0, "done": 0, "outcome": None, "message": None, "traceback": None}
    waiting = (Job.state == "queued", can_be_done_by(session, worker, Job))
    job = claim_first(session, settings, Job, waiting, ORDER, worker, fresh)
    if job is None:
        return None
    jobs.delete_job_files(session, job)
    _RESULTS[job.kind].discard(session, job)
    jobs.announce(session, job)
    return JobClaim(
        job_id=job.id,
        attempt=job.attempt,
        kind=job.kind,
        parameters=job.parameters,
        lease_seconds=settings.lease_seconds,
        checkpoint=offer(session.get_one(Checkpoint, job.checkpoint_id)) if job.checkpoint_id else None,
        starts=offer_start_set(session, job),
        installation=read_installation_id(session),
    )


def current_job(session: Session, job_id: int, attempt: int, *, lock: bool = False) -> Job:
    """Return the job if the attempt is active or may continue. With `lock`, make it active again.

    Raise StaleAttempt otherwise. With `lock`, the run of the job is locked first.
    """
    job = find_job(session, job_id, lock=lock)
    if not is_current(job, attempt):
        raise stale_attempt(job, attempt)
    if lock:
        continue_if_silent(session, job)
    return job


def is_current(job: Job, attempt: int) -> bool:
    """Return True if an attempt is active, or if its worker fell silent and no other attempt has started."""
    return job.attempt == attempt and (job.state == "running" or _may_continue(job))


def _may_continue(job: Job) -> bool:
    return job.state == "queued" and job.lease_expires_at is not None


def continue_if_silent(session: Session, job: Job) -> None:
    """Return a job to the worker that fell silent but still runs it."""
    if _may_continue(job):
        job.state, job.outcome, job.message = "running", None, None
        jobs.announce(session, job)


def ingest(session: Session, job_id: int, batch: EventBatch) -> int:
    """Store the new events of a batch. Return the number of the last stored event.

    Raise EventConflict for another event under the number of a stored one, since a job has only one result.
    """
    job = current_job(session, job_id, batch.attempt, lock=True)
    handlers = _COMMON_HANDLERS | _RESULTS[job.kind].handlers
    unstored = take_unstored(session, job, [(event.seq, digest_of_event(event)) for event in batch.events])
    if unstored.conflicts:
        number = batch.events[unstored.indexes[0]].seq
        raise EventConflict(f"Event {number} of job {job.id} was sent before with other contents. Start the job again.")
    events = [batch.events[index] for index in unstored.indexes]
    refuse_other_kinds(events, handlers)
    for event in events:
        handlers[type(event)](session, job, event)
    jobs.announce(session, job)
    return job.last_seq


def release(session: Session, settings: Settings, job_id: int, ended: Release) -> Job:
    """End the attempt of a worker at a job. A repeated call changes nothing, and is logged if its outcome differs."""
    job = find_job(session, job_id, lock=True)
    if job.attempt != ended.attempt:
        raise stale_attempt(job, ended.attempt)
    continue_if_silent(session, job)
    if job.state == "running":
        job.traceback = ended.traceback or job.traceback
        conclude(session, settings, job, ended.outcome, ended.message)
    elif job.run_id is not None and _contradicts(job, ended):
        reason = f" ({ended.message})" if ended.message else ""
        message = f"Job {job.id} is {job.state}, but its worker reported its end again, now as {ended.outcome}{reason}."
        note(session, session.get_one(Run, job.run_id), message, "warning")
    return job


def _contradicts(job: Job, ended: Release) -> bool:
    """Return True if a worker reports success of a job that failed, or the failure of one that is done."""
    return (job.state, ended.outcome) in (("failed", "finished"), ("done", "failed"))


def lose(session: Session, settings: Settings, job: Job) -> None:
    """End the attempt of a silent worker. Keep its lease, which marks that the worker may still continue."""
    worker, lease = job.worker, job.lease_expires_at
    conclude(session, settings, job, "lost")
    if job.state == "queued":
        job.worker, job.lease_expires_at = worker, lease


def conclude(session: Session, settings: Settings, job: Job, outcome: Outcome, message: str | None = None) -> None:
    """End the active attempt. Its outcome and the desired state decide the job's next state."""
    if outcome == "lost" and job.outcome is not None:
        # The process reported how it ended before its worker was lost.
        outcome = job.outcome
    if outcome == "finished" and not _RESULTS[job.kind].exists(session, job):
        jobs.set_state(session, job, "failed", job.message or "Its process ended without a result.")
    elif outcome == "finished":
        jobs.set_state(session, job, "done")
    elif outcome == "failed":
        jobs.set_state(session, job, "failed", message or job.message or "It failed without an error message.")
    elif job.desired == "cancel":
        jobs.set_state(session, job, "cancelled")
    elif outcome == "lost":
        _requeue_or_fail(session, settings, job, message or f"Worker {job.worker} fell silent.")
    else:
        jobs.set_state(session, job, "queued", message or f"Worker {job.worker} was shut down.")
    if job.run_id is not None:
        run = session.get_one(Run, job.run_id)
        # The evaluated checkpoint may be the best now, and checkpoints that were kept for the job may be deleted.
        prune_after_job(session, run)
        evaluations.catch_up_schedule(session, run)
        calibrations.catch_up_schedule(session, run)


def _requeue_or_fail(session: Session, settings: Settings, job: Job, reason: str) -> None:
    may_requeue, message = count_loss(job, settings, reason)
    jobs.set_state(session, job, "queued" if may_requeue else "failed", message)


def _start(_session: Session, job: Job, event: ev.Started) -> None:
    job.started_at = to_datetime(event.time)


def _log(_session: Session, job: Job, event: ev.Log) -> None:
    if event.level != "info":
        job.message = event.message


def _advance(_session: Session, job: Job, event: ev.Advanced) -> None:
    """Store the progress of a computation."""
    job.done = min(event.done, job.total)


def _end(_session: Session, job: Job, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Store how the process ended. The job changes state when its worker releases it or falls silent."""
    job.outcome = event.kind
    if isinstance(event, ev.Failed):
        job.message, job.traceback = event.message, event.traceback or None


_Handlers = dict[type[ev.Event], Callable[[Session, Job, Any], None]]


@dataclass(frozen=True)
class _Results:
    """Functions that store the results of a kind of job, check for them, and discard those of an earlier attempt."""

    handlers: _Handlers
    exists: Callable[[Session, Job], bool] = lambda _session, _job: True
    discard: Callable[[Session, Job], None] = lambda _session, _job: None


_RESULTS: dict[JobKind, _Results] = {
    "evaluation": _Results(
        {ev.EvaluatedEpisode: evaluations.store_episode, ev.EvaluationEvent: evaluations.store_result},
        evaluations.has_result,
        evaluations.discard_result,
    ),
    # Live games need no result.
    "live": _Results({}),
    "play": _Results({ev.GameKept: kept_games.keep}),
    "film": _Results(
        {ev.Advanced: _advance, ev.Film: kept_games.keep_film}, kept_games.has_film, kept_games.discard_film
    ),
    # An evaluation may already use the set of an earlier attempt, which has the same points, so it is not discarded.
    "start_points": _Results({ev.Advanced: _advance, ev.StartPointsEvent: start_sets.keep}, start_sets.has_result),
    "recording": _Results({ev.ReplayEvent: keep_recording}, has_recording, discard_recording),
    # An earlier attempt has left only its file, which the claim deletes.
    "saliency": _Results({ev.Advanced: _advance, ev.SaliencyEvent: saliency.keep}, saliency.has_arrived),
    "futures": _Results({ev.Advanced: _advance, ev.FuturesEvent: futures.store}, futures.has_result, futures.discard),
    "calibration": _Results(
        {ev.Advanced: calibrations.advance, ev.CalibrationEvent: calibrations.store_result},
        calibrations.has_result,
        calibrations.discard_result,
    ),
}

_COMMON_HANDLERS: _Handlers = {
    ev.Started: _start,
    ev.Log: _log,
    ev.Stopped: _end,
    ev.Finished: _end,
    ev.Failed: _end,
}

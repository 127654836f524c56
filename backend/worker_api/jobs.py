"""Jobs in the hands of workers: claimed by one conditional update, guarded by the attempt, as runs are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend.checkpoints.thinning import settle
from backend.config import Settings
from backend.database.tables import Checkpoint, Job, Run
from backend.evaluations.schedule import catch_up
from backend.evaluations.service import discard_result, has_result, keep_episode, keep_result
from backend.evaluations.starting import offered_starts
from backend.jobs import service
from backend.jobs.queue import ORDER
from backend.kept_games import service as kept_games
from backend.replays.service import discard_recording, has_recording, keep_recording
from backend.saliency import service as saliency
from backend.web.lookup import find_job
from backend.worker_api.attempts import StaleAttempt, identity, offered
from backend.worker_api.claiming import claim_first
from backend.worker_api.sequence import moment, new_events
from workers.contract import events as ev
from workers.contract.worker_api import EventBatch, JobClaim, JobKind, Outcome, Release


def claim(session: Session, settings: Settings, worker: str) -> JobClaim | None:
    """Hand the first job in the line to a worker; None when none waits."""
    # Nothing of the attempt before is left.
    fresh = {"state": "running", "last_seq": 0, "done": 0, "outcome": None, "message": None, "traceback": None}
    claimed = claim_first(session, settings, Job, (Job.state == "queued",), ORDER, worker, fresh)
    if claimed is None:
        return None
    job = session.get_one(Job, claimed)
    service.delete_job_files(session, job)
    _BRINGING[job.kind].discard(session, job)
    service.announce(session, job)
    return JobClaim(
        job_id=job.id,
        attempt=job.attempt,
        kind=job.kind,
        parameters=job.parameters,
        lease_seconds=settings.lease_seconds,
        checkpoint=offered(session.get_one(Checkpoint, job.checkpoint_id)) if job.checkpoint_id else None,
        starts=offered_starts(session, job),
        installation=identity(session),
    )


def current_job(session: Session, job_id: int, attempt: int, *, lock: bool = False) -> Job:
    """Return the job if this attempt is active or may continue. A locked job is active afterwards.

    Its run is locked first.
    """
    job = find_job(session, job_id, lock=lock)
    if not is_current(job, attempt):
        raise _stale(job, attempt)
    if lock:
        continue_if_silent(session, job)
    return job


def is_current(job: Job, attempt: int) -> bool:
    """Return True if an attempt is active, or if it fell silent and no other began."""
    return job.attempt == attempt and (job.state == "running" or _may_continue(job))


def _may_continue(job: Job) -> bool:
    return job.state == "queued" and job.lease_expires_at is not None


def continue_if_silent(session: Session, job: Job) -> None:
    """Give a job back to the worker that fell silent and still does it."""
    if _may_continue(job):
        job.state, job.outcome, job.message = "running", None, None
        service.announce(session, job)


def ingest(session: Session, job_id: int, batch: EventBatch) -> int:
    """Store the new events of a batch. Return the number of the last one stored."""
    job = current_job(session, job_id, batch.attempt, lock=True)
    handlers = _OF_ALL | _BRINGING[job.kind].handlers
    for event in new_events(batch.events, job.last_seq, handlers):
        handlers[type(event)](session, job, event)
        job.last_seq = event.seq
    service.announce(session, job)
    return job.last_seq


def release(session: Session, settings: Settings, job_id: int, ended: Release) -> Job:
    """Take a job back from its worker; a repeated call changes nothing."""
    job = find_job(session, job_id, lock=True)
    if job.attempt != ended.attempt:
        raise _stale(job, ended.attempt)
    continue_if_silent(session, job)
    if job.state == "running":
        job.traceback = ended.traceback or job.traceback
        conclude(session, settings, job, ended.outcome, ended.message)
    return job


def lose(session: Session, settings: Settings, job: Job) -> None:
    """End the attempt of a silent worker. Keep its lease as the mark that the worker may still continue it."""
    worker, lease = job.worker, job.lease_expires_at
    conclude(session, settings, job, "lost")
    if job.state == "queued":
        job.worker, job.lease_expires_at = worker, lease


def conclude(session: Session, settings: Settings, job: Job, outcome: Outcome, message: str | None = None) -> None:
    """End the active attempt; its outcome and the user's wish decide the job's next state."""
    if outcome == "lost" and job.outcome is not None:
        # Its process had reported its end before its worker was lost.
        outcome = job.outcome
    if outcome == "finished" and not _BRINGING[job.kind].has_brought(session, job):
        service.set_state(session, job, "failed", job.message or "Its process ended without a result.")
    elif outcome == "finished":
        service.set_state(session, job, "done")
    elif outcome == "failed":
        service.set_state(session, job, "failed", message or job.message or "It failed without an error message.")
    elif job.desired == "cancel":
        service.set_state(session, job, "cancelled")
    elif outcome == "lost":
        _again_or_give_up(session, settings, job, message or f"Worker {job.worker} fell silent.")
    else:
        service.set_state(session, job, "queued", message or f"Worker {job.worker} was shut down.")
    if job.run_id is not None:
        run = session.get_one(Run, job.run_id)
        # What it evaluated may be the best now, and what waited for it may go.
        settle(session, run)
        catch_up(session, run)


def _again_or_give_up(session: Session, settings: Settings, job: Job, reason: str) -> None:
    if job.tries >= settings.max_requeues:
        told = f"{reason} That was once too often: it has been tried again {job.tries} times already."
        service.set_state(session, job, "failed", told)
        return
    job.tries += 1
    again = f"{reason} Back in the queue, {job.tries} of at most {settings.max_requeues} times."
    service.set_state(session, job, "queued", again)


def _stale(job: Job, attempt: int) -> StaleAttempt:
    return StaleAttempt(
        f"Attempt {attempt} of job {job.id} is over; the job is {job.state} at attempt {job.attempt}. Stop its process."
    )


def _start(_session: Session, job: Job, event: ev.Started) -> None:
    job.started_at = moment(event.time)


def _log(_session: Session, job: Job, event: ev.Log) -> None:
    if event.level != "info":
        job.message = event.message


def _end(_session: Session, job: Job, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Keep how the process ended. The job changes state when its worker gives it back or falls silent."""
    job.outcome = event.kind
    if isinstance(event, ev.Failed):
        job.message, job.traceback = event.message, event.traceback or None


_Handlers = dict[type[ev.Event], Callable[[Session, Job, Any], None]]


@dataclass(frozen=True)
class _Bringing:
    """What a kind of job brings: by which events, whether it has, and how an earlier attempt's is forgotten."""

    handlers: _Handlers
    has_brought: Callable[[Session, Job], bool]
    discard: Callable[[Session, Job], None]


# Nothing is kept of a live game.
_NOTHING = _Bringing({}, lambda _session, _job: True, lambda _session, _job: None)

_BRINGING: dict[JobKind, _Bringing] = {
    "evaluation": _Bringing(
        {ev.EvaluatedEpisode: keep_episode, ev.Evaluation: keep_result}, has_result, discard_result
    ),
    "live": _NOTHING,
    "play": _Bringing({ev.GameKept: kept_games.keep}, lambda _session, _job: True, lambda _session, _job: None),
    "film": _Bringing(
        {ev.Advanced: saliency.advance, ev.Film: kept_games.keep_film}, kept_games.has_film, kept_games.discard_film
    ),
    "recording": _Bringing({ev.ReplayEvent: keep_recording}, has_recording, discard_recording),
    "saliency": _Bringing(
        {ev.Advanced: saliency.advance, ev.Saliency: saliency.keep},
        saliency.has_arrived,
        # What an earlier attempt brought is its file alone.
        lambda _session, _job: None,
    ),
}

_OF_ALL: _Handlers = {
    ev.Started: _start,
    ev.Log: _log,
    ev.Stopped: _end,
    ev.Finished: _end,
    ev.Failed: _end,
}

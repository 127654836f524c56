"""Attempts at jobs, their events and their results."""

from datetime import datetime
from importlib import import_module
from pkgutil import walk_packages

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from arcadia_backend import job_kinds, jobs, usage
from arcadia_backend.checkpoints.service import prune_after_job
from arcadia_backend.config import Settings
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Checkpoint, Job, JobWorker, Run, Usage
from arcadia_backend.events import EventConflict, digest_of_event, refuse_other_kinds, take_unstored, to_datetime
from arcadia_backend.job_kinds import calibrations
from arcadia_backend.job_kinds.evaluations import service as evaluations
from arcadia_backend.job_kinds.evaluations.service import offer_start_set
from arcadia_backend.jobs import ORDER, Handlers, JobType
from arcadia_backend.logs import note
from arcadia_backend.web.lookup import find_job
from arcadia_backend.worker_api.attempts import Attempts, claim_first, offer, read_installation_id
from arcadia_backend.workers import can_be_done_by, fits_job_slots
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.jobs import JOB_KINDS, JobKind
from arcadia_workers.contract.worker_api import EventBatch, JobClaim, Outcome, Release


def claim(session: Session, settings: Settings, worker: str) -> JobClaim | None:
    """Claim the first waiting job for a worker. Return None if no job waits or the worker is paused."""
    # Clear everything of the previous attempt.
    fresh = {"state": "running", "last_seq": 0, "done": 0, "outcome": None, "message": None, "traceback": None}
    waiting = (Job.state == "queued", can_be_done_by(session, worker, Job), fits_job_slots(session, worker))
    ordered = select(Job.id).where(*waiting).order_by(*ORDER).limit(1)

    def first(condition: ColumnElement[bool]) -> int | None:
        return session.scalar(ordered.where(condition))

    job = claim_first(session, settings, Job, waiting, first, worker, fresh)
    if job is None:
        return None
    if (number := current().job_worker) is not None:
        session.execute(update(JobWorker).where(JobWorker.id == number).values(was_used=True))
    jobs.delete_job_files(session, job)
    JOB_TYPES[job.kind].discard(session, job)
    usage.begin_job(session, job)
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


def ingest(session: Session, job_id: int, batch: EventBatch) -> int:
    """Store the new events of a batch. Return the number of the last stored event.

    Raise EventConflict for another event under the number of a stored one, since a job has only one result.
    """
    job = JOBS.current(session, job_id, batch.attempt, lock=True)
    handlers = _COMMON_HANDLERS | JOB_TYPES[job.kind].handlers
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


class JobAttempts(Attempts[Job]):
    """Attempts at jobs, of which only the last is stored."""

    active = ("running",)

    def find(self, session: Session, row_id: int, *, lock: bool = False) -> Job:
        return find_job(session, row_id, lock=lock)

    def may_continue(self, held: Job) -> bool:
        return held.state == "queued" and held.lease_expires_at is not None

    def make_active(self, session: Session, held: Job) -> None:
        held.state, held.outcome, held.message = "running", None, None
        usage.resume(session, Usage.job_id == held.id, Usage.attempt == held.attempt)
        jobs.announce(session, held)

    def reported_outcome(self, _session: Session, held: Job) -> Outcome | None:
        return held.outcome

    def store_traceback(self, _session: Session, held: Job, traceback: str) -> None:
        held.traceback = traceback or held.traceback

    def compare_outcome(self, session: Session, held: Job, ended: Release) -> None:
        # Log only a success of a failed job and a failure of a job that is done.
        if held.run_id is None or (held.state, ended.outcome) not in (("failed", "finished"), ("done", "failed")):
            return
        reason = f" ({ended.message})" if ended.message else ""
        message = (
            f"Job {held.id} is {held.state}, but its worker reported its end again, now as {ended.outcome}{reason}."
        )
        note(session, session.get_one(Run, held.run_id), message, "warning")

    def finish(self, session: Session, held: Job) -> None:
        if JOB_TYPES[held.kind].has_result(session, held):
            jobs.set_state(session, held, "done")
        else:
            self.fail(session, held, held.message or "Its process ended without a result.")

    def fail(self, session: Session, held: Job, message: str | None) -> None:
        jobs.set_state(session, held, "failed", message or held.message or "It failed without an error message.")

    def give_back(self, session: Session, held: Job, _outcome: Outcome, message: str) -> None:
        if held.desired == "cancel":
            jobs.set_state(session, held, "cancelled")
        else:
            jobs.set_state(session, held, "queued", message)

    def after_end(self, session: Session, held: Job, _worker: str | None, _outcome: Outcome) -> None:
        if held.run_id is not None:
            run = session.get_one(Run, held.run_id)
            # The evaluated checkpoint may be the best now, and checkpoints that were kept for the job may be deleted.
            prune_after_job(session, run)
            evaluations.catch_up_schedule(session, run)
            calibrations.catch_up_schedule(session, run)

    def keep_lease(self, _session: Session, held: Job, worker: str | None, lease: datetime | None) -> None:
        if held.state == "queued":
            held.worker, held.lease_expires_at = worker, lease


JOBS = JobAttempts()


def _start(_session: Session, job: Job, event: ev.Started) -> None:
    job.started_at = to_datetime(event.time)


def _log(_session: Session, job: Job, event: ev.Log) -> None:
    if event.level != "info":
        job.message = event.message


def _advance(_session: Session, job: Job, event: ev.Advanced) -> None:
    job.done, job.total = min(event.done, event.total), event.total


def _end(_session: Session, job: Job, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Store how the process ended. The job changes state when its worker releases it or falls silent."""
    job.outcome = event.kind
    if isinstance(event, ev.Failed):
        job.message, job.traceback = event.message, event.traceback or None


def load_job_types() -> dict[JobKind, JobType]:
    """Import the modules of kinds of jobs. Return the kinds that they define, in the order of their declarations."""
    modules = [import_module(each.name) for each in walk_packages(job_kinds.__path__, f"{job_kinds.__name__}.")]
    found = {each.kind: each for module in modules for each in vars(module).values() if isinstance(each, JobType)}
    return {kind: found[kind] for kind in JOB_KINDS}


JOB_TYPES = load_job_types()

_COMMON_HANDLERS: Handlers = {
    ev.Started: _start,
    ev.Log: _log,
    ev.Advanced: _advance,
    ev.Stopped: _end,
    ev.Finished: _end,
    ev.Failed: _end,
}

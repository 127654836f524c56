"""Jobs: short tasks that a worker does beside its training, such as the evaluation of a checkpoint."""

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from arcadia_backend import usage
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import (
    Checkpoint,
    File,
    Installation,
    Job,
    JobWorker,
    Origin,
    Project,
    Run,
    Usage,
    Worker,
)
from arcadia_backend.database.tables.jobs import CheckpointResult, JobResult
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.files.service import delete_files
from arcadia_backend.live.notices import publish
from arcadia_backend.web.lookup import find_job, find_run
from arcadia_backend.workers import free_job_slots, job_takers, missing_reason, paused_reason, running_jobs
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.jobs import INTERACTIVE_JOBS, JOB_KINDS, PRIORITIES, JobKind
from arcadia_workers.contract.plugins.loading import needed_plugins
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, WORKERS, ExecutorName, JobState

# A free worker that has not claimed a job after this time is probably slowed down by other work.
EXPECTED_CLAIM_TIME = timedelta(seconds=15)
_PRIORITY = case({each.kind: PRIORITIES.index(each.priority) for each in JOB_KINDS.values()}, value=Job.kind)
ORDER = (_PRIORITY, Job.created_at, Job.id)
MAX_NAMED_JOBS = 3


Row = TypeVar("Row", bound=JobResult)


class JobFields(BaseModel):
    """The state of a job, which is a part of the schema of each kind of job."""

    job_id: int = Field(description="The id of its job, as the event job.changed of GET /events has it.")
    state: JobState
    reason: str | None = Field(description="Why it waits or has failed, as a sentence, or a warning.")
    traceback: str | None = Field(description="The traceback of an unexpected failure.")
    done: int = Field(description="Progress, in the unit of the total.")
    total: int = Field(description="0 while it is unknown.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class JobQueue:
    """The waiting jobs in order, the running jobs with their workers, and the workers that take jobs."""

    waiting: Sequence[tuple[int, JobKind]]
    running: Sequence[tuple[str, JobKind]]
    workers: Sequence[Worker]
    # By job that a scheduler may start a worker for: what that worker waits for, as a sentence.
    schedulers: Mapping[int, str]

    def wait_reason(self, job: Job) -> str:
        """Return a sentence that says what a job waits for."""
        if not self.workers and (reason := self.schedulers.get(job.id)) is not None:
            return reason
        if not self.workers:
            return "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`."
        kind = "worker that takes jobs"
        if refused := paused_reason(self.workers, kind) or missing_reason(self.workers, job.needed_plugins, kind):
            return " ".join(filter(None, (refused, self.schedulers.get(job.id))))
        free = sum(free_job_slots(worker, self.running, job.kind) for worker in self.workers)
        rivals = [number for number, kind in self.waiting if _may_take_slot_of(kind, job.kind)]
        ahead = rivals.index(job.id) if job.id in rivals else 0
        if ahead < free and utc_now() - job.created_at < EXPECTED_CLAIM_TIME:
            return "A worker is about to take it."
        if ahead < free:
            return "Next in the queue. A free worker has not taken it yet. A busy host may need minutes."
        reason = self._blocking_reason(job)
        if not ahead:
            return reason
        others = "1 other job is" if ahead == 1 else f"{ahead} other jobs are"
        return f"{reason} {others} ahead of it in the queue.".lstrip()

    def _blocking_reason(self, job: Job) -> str:
        """Return a sentence that names the running jobs for whose slots a job waits, or "" if none runs."""
        takers = {worker.name for worker in self.workers}
        running = [(worker, kind) for worker, kind in self.running if worker in takers]
        blocking = [each for each in running if _may_take_slot_of(each[1], job.kind)] or running
        if len(blocking) > MAX_NAMED_JOBS:
            return f"Waits for one of {len(blocking)} running jobs to end."
        named = [f"{JOB_KINDS[kind].name} on worker {worker}" for worker, kind in blocking]
        return f"Waits for {' or '.join(named)}." if named else ""


def _may_take_slot_of(kind: JobKind, other: JobKind) -> bool:
    """Return True if a job of a kind may use the slot that another kind waits for."""
    return other in INTERACTIVE_JOBS or kind not in INTERACTIVE_JOBS


def read_queue(session: Session, jobs: Iterable[Job]) -> JobQueue | None:
    """Return the current job queue, also of other projects, or None if none of the found jobs waits in it."""
    if not any(job.state == "queued" for job in jobs):
        return None
    with backend_rights(session):
        rows = session.execute(select(Job.id, Job.kind).where(Job.state == "queued").order_by(*ORDER))
        waiting = [(number, kind) for number, kind in rows]
        return JobQueue(waiting, running_jobs(session), job_takers(session, utc_now()), _read_schedulers(session))


def executor_of_job() -> ColumnElement[str]:
    """Return the scheduler that starts workers for a job: of its run, its project or the installation, or `workers`."""
    of_run = select(func.nullif(Run.executor, WORKERS)).where(Run.id == Job.run_id).correlate(Job).scalar_subquery()
    run_project = select(Run.project_id).where(Run.id == Job.run_id).correlate(Job).scalar_subquery()
    project = func.coalesce(run_project, Job.project_id)
    of_project = select(Project.executor).where(Project.id == project).correlate(Job).scalar_subquery()
    return func.coalesce(of_run, of_project, select(Installation.executor).scalar_subquery(), WORKERS)


def _read_schedulers(session: Session) -> dict[int, str]:
    """Return for each waiting job of a scheduler what its worker waits for."""
    executor = executor_of_job().label("executor")
    placed = session.execute(select(Job.id, executor).where(Job.state == "queued")).all()
    newest = {
        name: session.scalar(
            select(JobWorker)
            .where(JobWorker.executor == name)
            .order_by(JobWorker.state == "ended", JobWorker.state == "running", JobWorker.id.desc())
            .limit(1)
        )
        for name in {row.executor for row in placed} - {WORKERS}
    }
    return {row.id: _describe_worker(row.executor, newest[row.executor]) for row in placed if row.executor in newest}


def _describe_worker(executor: ExecutorName, worker: JobWorker | None) -> str:
    title = EXECUTOR_TITLES[executor]
    if worker is None or (worker.state == "ended" and worker.reason is None):
        return f"No worker that takes jobs is connected. {title} starts one."
    if worker.state == "ended":
        return f"{worker.reason} It starts another one. An administrator can test {title} on the page Workers."
    if worker.unknown_since is not None:
        return f"{title} does not answer about job {worker.handle}, whose worker does it: {worker.reason}"
    if worker.state == "submitting":
        return f"{title} has not accepted a job whose worker does it{f': {worker.reason}' if worker.reason else '.'}"
    if worker.state == "running":
        return f"Job {worker.handle} of {title} is starting a worker for it."
    return f"Job {worker.handle} of {title}, whose worker does it, waits: {worker.reason or worker.scheduler_state}."


class CheckpointJobFields(JobFields):
    """The fields that evaluations and calibrations share."""

    id: int
    run_id: int
    origin: Origin
    checkpoint_id: int
    checkpoint_sha256: str
    step: int = Field(description="Step of the checkpoint.")
    frames: int = Field(description="Emulator frames at the checkpoint.")
    superseded: bool = Field(
        description="True if a later attempt resumed before the checkpoint. The result then does not count."
    )
    protocol: str
    seed: int


def checkpoint_job_fields(
    row: CheckpointResult, job: Job, queue: JobQueue | None, superseded: Container[int]
) -> dict[str, Any]:
    """Return the values of `CheckpointJobFields`. `superseded` has ids of checkpoints."""
    same = ("id", "run_id", "origin", "checkpoint_id", "step", "frames", "protocol", "seed")
    own = {"checkpoint_sha256": row.sha256, "superseded": row.checkpoint_id in superseded}
    return {name: getattr(row, name) for name in same} | own | job_fields(job, queue)


def checkpoint_columns(job: Job, run: Run, checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the columns that evaluations and calibrations share. Some are copied, since checkpoints may be deleted."""
    same = {name: getattr(checkpoint, name) for name in ("step", "frames", "sha256")}
    played = {name: job.parameters[name] for name in ("protocol", "seed")}
    return same | played | {"run_id": run.id, "job_id": job.id, "checkpoint_id": checkpoint.id}


Handlers = dict[type[ev.Event], Callable[[Session, Job, Any], None]]


@dataclass(frozen=True)
class JobType:
    """How the results of a kind of job are stored from its events, checked for, and discarded with an earlier attempt.

    `router` has the routes of the kind, and `table` its results.
    """

    kind: JobKind
    router: APIRouter = field(default_factory=APIRouter)
    handlers: Handlers = field(default_factory=dict)
    has_result: Callable[[Session, Job], bool] = lambda _session, _job: True
    discard: Callable[[Session, Job], None] = lambda _session, _job: None
    table: type[JobResult] | None = None


def document_job(
    kind: JobKind,
    table: type[JobResult],
    router: APIRouter,
    *,
    store: Callable[[Session, Job, Any], None] | None = None,
    discard: Callable[[Session, Job], None] | None = None,
) -> JobType:
    """Return a kind of job whose result is a document in a table.

    `store` and `discard` replace how the document is stored, and how that of an earlier attempt is deleted.
    """
    result = JOB_KINDS[kind].result

    def store_document(session: Session, job: Job, event: Any) -> None:
        row_of_job(session, table, job).document = to_stored(event.document)

    def discard_document(session: Session, job: Job) -> None:
        row_of_job(session, table, job).document = None

    handlers: Handlers = {result: store or store_document} if result else {}
    return JobType(kind, router, handlers, has_document(table), discard or discard_document, table)


def has_document(table: type[JobResult]) -> Callable[[Session, Job], bool]:
    """Return a function that returns True if the row of a job has a document."""
    return lambda session, job: row_of_job(session, table, job).document is not None


def find_with_job(session: Session, table: type[Row], row_id: int, *, lock: bool = False) -> tuple[Row, Job]:
    """Return a row and its job. Raise NotFound if it does not exist. With `lock`, lock the job's run first."""
    row = session.get(table, row_id)
    job = session.get(Job, row.job_id) if row else None
    if job is not None and lock:
        find_run(session, job.require_run_id(), lock=True)
        # Both may have been deleted or changed before the lock.
        row = session.get(table, row_id, populate_existing=True)
        job = session.get(Job, job.id, populate_existing=True, with_for_update=True)
    if row is None or job is None:
        [declared] = (each for each in JOB_KINDS.values() if each.table == table.__tablename__)
        raise NotFound(declared.missing(row_id))
    return row, job


def find_result(job_type: JobType, session: Session, number: int, *, lock: bool = False) -> tuple[Any, Job]:
    """Return a result of a kind of job and its job, which is its own result if the kind has no table.

    Raise NotFound if it does not exist. With `lock`, lock its run first.
    """
    if job_type.table is not None:
        return find_with_job(session, job_type.table, number, lock=lock)
    job = find_of_kind(session, number, job_type.kind, lock=lock)
    return job, job


def find_of_kind(session: Session, job_id: int, kind: JobKind, *, lock: bool = False) -> Job:
    """Return a job of a kind. Raise NotFound if there is none. With `lock`, lock its run first."""
    missing = JOB_KINDS[kind].missing(job_id)
    if session.scalar(select(Job.kind).where(Job.id == job_id)) != kind:
        raise NotFound(missing)
    try:
        return find_job(session, job_id, lock=lock)
    except NotFound as error:  # deleted before the lock
        raise NotFound(missing) from error


def row_of_job(session: Session, table: type[Row], job: Job) -> Row:
    """Return the row of a job."""
    return session.scalars(select(table).where(table.job_id == job.id)).one()


def to_stored(document: BaseModel) -> dict[str, Any]:
    """Convert a result to JSON that the database can store."""
    # Convert it through JSON text, which spells NaN and infinity as strings. PostgreSQL's JSON cannot store them.
    stored: dict[str, Any] = json.loads(document.model_dump_json())
    return stored


UNFINISHED: tuple[JobState, ...] = ("queued", "running")


def enqueue(
    session: Session,
    run: Run | None,
    checkpoint: Checkpoint | None,
    kind: JobKind,
    parameters: BaseModel,
    total: int,
    project_id: int | None = None,
) -> Job:
    """Create a job in the queue. A job of a person who plays has no run and no checkpoint, and needs a project."""
    stored = parameters.model_dump(mode="json")
    named = needed_plugins({"env": stored.get("env"), "evaluation_protocol": stored.get("protocol")})
    needed = {*named, *(run.needed_plugins.split(",") if run and run.needed_plugins else ())}
    job = Job(
        kind=kind,
        needed_plugins=",".join(sorted(needed)),
        run_id=run.id if run else None,
        project_id=project_id,
        person_id=current().person_id,
        checkpoint_id=checkpoint.id if checkpoint else None,
        parameters=stored,
        total=total,
        state="queued",
    )
    session.add(job)
    session.flush()
    announce(session, job)
    return job


def count_unfinished(session: Session, run: Run, kind: JobKind) -> int:
    """Return how many jobs of a kind are queued or running for a run."""
    jobs = select(func.count()).select_from(Job).where(Job.run_id == run.id, Job.kind == kind)
    return session.scalar(jobs.where(Job.state.in_(UNFINISHED))) or 0


def check_room(session: Session, run: Run, kind: JobKind) -> None:
    """Raise Conflict if a run has too many unfinished jobs of a kind."""
    declared = JOB_KINDS[kind]
    if declared.max_unfinished is not None and count_unfinished(session, run, kind) >= declared.max_unfinished:
        some = f"{declared.max_unfinished} unfinished {declared.plural}"
        raise Conflict(f"{some} of run {run.id} already wait. Try again when one is done.")


def remove_ended(session: Session, run: Run, kind: JobKind) -> None:
    """Delete the finished jobs of a kind of a run."""
    query = select(Job).where(Job.run_id == run.id, Job.kind == kind, Job.state.not_in(UNFINISHED)).order_by(Job.id)
    for job in session.scalars(query).all():
        remove(session, job)


def cancel(session: Session, job: Job) -> None:
    """Cancel a job. A running job becomes cancelled when its process has ended."""
    if job.state not in UNFINISHED:
        raise Conflict(f"The job is already {job.state}, so it cannot be cancelled.")
    job.desired = "cancel"
    if job.state == "queued":
        job.message = None  # It said why the job is back in the queue.
        set_state(session, job, "cancelled")
    announce(session, job)


def set_state(session: Session, job: Job, state: JobState, message: str | None = None) -> None:
    """End the current attempt of a job with a new state, and notify open pages."""
    usage.end(session, Usage.job_id == job.id)
    job.state, job.worker, job.lease_expires_at = state, None, None
    job.message = message or job.message
    job.finished_at = None if state in UNFINISHED else utc_now()
    announce(session, job)


def remove(session: Session, job: Job) -> None:
    """Delete a job with its results. A worker that runs it gets 404 and ends it."""
    announce(session, job, "removed")
    usage.end(session, Usage.job_id == job.id)
    delete_job_files(session, job)
    session.delete(job)
    session.flush()


def delete_job_files(session: Session, job: Job) -> None:
    """Delete the files that a job has made so far."""
    delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())


def state_reason(job: Job, queue: JobQueue | None) -> str | None:
    """Return why a job is in its state. For a queued job this includes what it waits for."""
    if job.state != "queued":
        return "Cancelling." if job.state == "running" and job.desired == "cancel" else job.message
    return " ".join(part for part in (job.message, queue and queue.wait_reason(job)) if part)


def job_fields(job: Job, queue: JobQueue | None) -> dict[str, Any]:
    """Return the values of `JobFields`. `queue` is needed for a queued job."""
    same = (name for name in JobFields.model_fields if name not in ("job_id", "reason"))
    return {name: getattr(job, name) for name in same} | {"job_id": job.id, "reason": state_reason(job, queue)}


def announce(session: Session, job: Job, state: JobState | Literal["removed"] | None = None) -> None:
    """Notify open pages after the commit that a job or its results changed. `state` replaces that of a removed job."""
    notice = {
        "id": job.id,
        "run_id": job.run_id,
        "kind": job.kind,
        "state": state or job.state,
        "done": job.done,
        "total": job.total,
        **({} if job.project_id is None else {"project_id": job.project_id}),
    }
    after_commit(session, lambda: publish("job.changed", notice))
    if job.run_id is None or job.kind == "play":
        played = {"id": job.id, "run_id": job.run_id, "project_id": job.project_id}
        after_commit(session, lambda: publish("play.changed", played))

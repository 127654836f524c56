"""Queries that build the run schemas of the API, with the reasons of their states."""

import math
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.caps import wait_reasons
from arcadia_backend.checkpoints.availability import NO_CHECKPOINTS, CheckpointCount, count_checkpoints
from arcadia_backend.colors import color_of
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.metrics.points import training_seconds
from arcadia_backend.runs import schemas
from arcadia_backend.runs.needs import read_needs, room_reason, unmet_reason
from arcadia_backend.runs.start_steps import current_steps
from arcadia_backend.runs.states import to_actions
from arcadia_backend.runs.waiting import WaitingRuns, read_waiting, visible_runs
from arcadia_backend.web.lookup import hidden_runs
from arcadia_backend.workers import connected_workers, disk_warning, has_plugins, missing_reason, paused_reason
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.events import RolePlace
from arcadia_workers.contract.plugins.loading import missing_plugins
from arcadia_workers.contract.worker_api import ACTIVE, EXECUTOR_TITLES, WORKERS, QueueName

MAX_WARNINGS = 5
# A free worker should claim a run within this time.
EXPECTED_CLAIM_TIME = timedelta(seconds=15)
_SHOWN_COLUMNS = (
    "id name state desired origin origin_label project algorithm env queue attempt priority created_at started_at "
    "finished_at archived_at worker launched_by step frames total_steps episodes poster_file_id"
).split()


def to_schemas(session: Session, runs: Sequence[tables.Run]) -> list[schemas.Run]:
    """Return the schemas of runs."""
    ids = [run.id for run in runs]
    reasons, seconds, studies = state_reasons(session, runs), training_seconds(session, ids), find_studies(session, ids)
    counts, hidden = count_checkpoints(session, ids), hidden_runs(session, (run.parent_run_id for run in runs))
    return [
        _to_schema(
            run,
            shown_fields(run, reasons[run.id], hidden),
            seconds[run.id],
            studies.get(run.id),
            counts.get(run.id, NO_CHECKPOINTS),
        )
        for run in runs
    ]


def to_schema(session: Session, run: tables.Run) -> schemas.Run:
    """Return the schema of one run, with its roles, start steps and warnings."""
    (one,) = to_schemas(session, [run])
    attempt = session.get(tables.Attempt, (run.id, run.attempt))
    one.warnings = _warnings(session, run)
    one.roles = [RolePlace.model_validate(role) for role in (attempt.roles if attempt else None) or []]
    one.start_steps = current_steps(run, attempt)
    if (job := find_submissions(session, [run.id]).get(run.id)) is not None:
        one.submission = schemas.SubmissionOfRun.model_validate(job)
    return one


def _warnings(session: Session, run: tables.Run) -> list[str]:
    """Return the newest warnings of the latest attempt, except the state reason."""
    line = tables.LogLine
    wanted = select(line.message).where(line.run_id == run.id, line.attempt == run.attempt, line.level == "warning")
    if run.state_reason is not None:
        wanted = wanted.where(line.message != run.state_reason)
    newest = session.scalars(wanted.order_by(line.id.desc()).limit(MAX_WARNINGS))
    return [*newest][::-1]


def find_studies(session: Session, run_ids: Sequence[int]) -> dict[int, schemas.StudyOfRun]:
    """Return the study of each run that belongs to one."""
    study_run = tables.StudyRun
    query = select(study_run, tables.Study.name).join(tables.Study, tables.Study.id == study_run.study_id)
    return {
        row.run_id: schemas.StudyOfRun(id=row.study_id, name=name, point=row.point, seed=row.seed)
        for row, name in session.execute(query.where(study_run.run_id.in_(run_ids)))
        if row.run_id is not None
    }


def state_reasons(session: Session, runs: Sequence[tables.Run]) -> dict[int, str | None]:
    """Return the sentence that explains the state of each run."""
    queues = {run.queue for run in runs if run.state == "queued" and run.queue and run.executor == WORKERS}
    workers = connected_workers(session, utc_now()) if queues else []
    waiting = {
        queue: read_waiting(
            session, queue, [worker for worker in workers if worker.queue == queue and worker.desired == "work"]
        )
        for queue in queues
    }
    visible = visible_runs(session, queues) if queues else set()
    jobs = find_submissions(session, [run.id for run in runs if run.executor != WORKERS])

    def why_no_room(run: tables.Run, queue: QueueName, free: Sequence[tables.Worker]) -> str | None:
        return room_reason(session, run, queue, free)

    reasons = {run.id: _state_reason(run, workers, waiting, visible, jobs.get(run.id), why_no_room) for run in runs}
    # A cap holds a run back even if a worker is free.
    submitted = {run_id for run_id, job in jobs.items() if job.state != "ended"}
    reasons |= {run_id: reason for run_id, reason in wait_reasons(session, runs).items() if run_id not in submitted}
    for run_id, warning in _disk_warnings(session, [run for run in runs if run.state in ACTIVE]).items():
        reasons[run_id] = " ".join(filter(None, (warning, reasons[run_id])))
    return reasons


def _disk_warnings(session: Session, active: Sequence[tables.Run]) -> dict[int, str]:
    """Return the warning for each run whose worker's disk is almost full."""
    if not active:
        return {}
    low = tables.Worker.low_disk_megabytes.is_not(None)
    query = select(tables.Worker).where(low, tables.Worker.name.in_([run.worker for run in active if run.worker]))
    warnings = {worker.name: disk_warning(worker) for worker in session.scalars(query)}
    return {run.id: warning for run in active if (warning := warnings.get(run.worker or ""))}


def find_submissions(session: Session, run_ids: Sequence[int]) -> dict[int, tables.RunSubmission]:
    """Return the latest submission of each run that has one."""
    if not run_ids:
        return {}
    query = (
        select(tables.RunSubmission).where(tables.RunSubmission.run_id.in_(run_ids)).order_by(tables.RunSubmission.id)
    )
    return {row.run_id: row for row in session.scalars(query)}


WhyNoRoom = Callable[[tables.Run, QueueName, Sequence[tables.Worker]], str | None]


def _state_reason(
    run: tables.Run,
    workers: list[tables.Worker],
    queues: Mapping[QueueName, WaitingRuns],
    visible: Collection[int],
    job: tables.RunSubmission | None,
    why_no_room: WhyNoRoom,
) -> str | None:
    if run.origin != "trained":
        if run.state != "running" or run.desired == "run":
            return run.state_reason
        word = "stop" if run.desired == "stop" else "pause"
        return f"Waiting for its script to {word}: it must call should_stop()."
    if run.state in ACTIVE and run.desired != "run":
        return "Stopping: the trainer saves a checkpoint first." if run.desired == "stop" else "Pausing."
    if run.state == "running" and _has_all_steps(run):
        return run.state_reason or "Finishing: the trainer saves the final checkpoint."
    if run.executor != WORKERS and run.state not in ACTIVE:
        return " ".join(part for part in (run.state_reason, _job_reason(run, job)) if part) or None
    if run.state != "queued" or run.queue is None:
        return run.state_reason
    of_queue = [worker for worker in workers if worker.queue == run.queue]
    waiting = _waiting_reason(run, run.queue, of_queue, queues[run.queue], visible, why_no_room)
    return " ".join(part for part in (run.state_reason, waiting) if part)


def _has_all_steps(run: tables.Run) -> bool:
    return run.total_steps is not None and run.step >= run.total_steps


# Descriptions of the states of a job in which its worker neither starts nor trains.
UNUSUAL_STATES = {
    "SUSPENDED": "is suspended: an administrator or a more urgent job has stopped it",
    "STOPPED": "is suspended: an administrator or a more urgent job has stopped it",
    "COMPLETING": "is ending",
    "STAGE_OUT": "is ending",
}


def _job_reason(run: tables.Run, job: tables.RunSubmission | None) -> str | None:
    """Return what the job of a run does that does not train, in the scheduler's own words."""
    scheduler = EXECUTOR_TITLES.get(run.executor, run.executor)
    if job is None or job.state == "ended":
        return f"It will be submitted to {scheduler}." if run.state == "queued" else None
    name = f"{scheduler} job {job.handle}"
    if job.state == "cancelling":
        return f"{name} is being cancelled."
    if run.state != "queued":
        return None
    if job.handle is None:
        return f"{scheduler} has not accepted its job: {job.reason}" if job.reason else f"{scheduler} receives its job."
    if job.unknown_since is not None:
        return f"The state of {name} is unknown since {job.unknown_since:%Y-%m-%d %H:%M} UTC: {job.reason}"
    if job.state == "running":
        host, state = job.host or "a node", job.scheduler_state
        if state in UNUSUAL_STATES:
            return f"{name} on {host} {UNUSUAL_STATES[state]}."
        if run.attempt >= job.attempt:
            return f"{name} runs on {host}, but its worker is not heard from. The run continues when it answers."
        return f"{name} runs on {host}. Its worker is starting."
    place = f", place {job.place}" if job.place else ""
    return f"{name} waits: {job.reason or job.scheduler_state or 'no reason given yet'}{place}."


def _waiting_reason(
    run: tables.Run,
    queue: QueueName,
    workers: list[tables.Worker],
    waiting: WaitingRuns,
    visible: Collection[int],
    why_no_room: WhyNoRoom,
) -> str:
    name = queue.upper()
    if not workers:
        return f"No {name} worker is connected: start one with `arcadia worker --queue {queue}`."
    kind = f"{name} worker"
    if refused := paused_reason(workers, kind) or missing_reason(workers, run.needed_plugins, kind):
        return refused
    if refused := unmet_reason(workers, queue, run.needs):
        return refused
    free = [worker for worker in workers if worker.run_id is None and worker.desired == "work"]
    if waiting.count_ahead(run.id) >= sum(has_plugins(worker, run.needed_plugins) for worker in free):
        return f"Waiting for a free {name} worker. {waiting.describe(run.id, visible)}"
    if refused := why_no_room(run, queue, free):
        return f"{refused} {waiting.describe(run.id, visible)}".strip()
    if utc_now() - run.created_at < EXPECTED_CLAIM_TIME:
        return f"A {name} worker is about to take it."
    return f"Next in the queue. A free {name} worker has not taken it yet: a busy host may need minutes."


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def shown_fields(run: tables.Run, reason: str | None, hidden: Container[int]) -> dict[str, Any]:
    """Return the fields that a run has in a list and elsewhere. `hidden` has the hidden parents."""
    parent = None
    if run.parent_run_id in hidden:
        parent = schemas.Parent(run_id=None, checkpoint_id=None, step=run.parent_step)
    elif run.parent_run_id is not None:
        parent = schemas.Parent(run_id=run.parent_run_id, checkpoint_id=run.parent_checkpoint_id, step=run.parent_step)
    is_training = run.state == "running" and not _has_all_steps(run)
    return {name: getattr(run, name) for name in _SHOWN_COLUMNS} | {
        "method": title_of(run.algorithm),
        "tags": sorted(tag.tag for tag in run.tags),
        "parent": parent,
        "state_reason": reason,
        "steps_per_second": _finite(run.steps_per_second),
        "seconds_left": _finite(run.seconds_left) if is_training else None,
        "last_return": _finite(run.last_return),
        "best_return": _finite(run.best_return),
        "color": color_of(run.id),
        "unsupported_because": missing_plugins(run.needed_plugins),
    }


def _to_schema(
    run: tables.Run,
    fields: Mapping[str, Any],
    seconds: float,
    study: schemas.StudyOfRun | None,
    checkpoints: CheckpointCount,
) -> schemas.Run:
    failure = None
    if run.failure_message is not None:
        failure = schemas.Failure(message=run.failure_message, traceback=run.failure_traceback)
    return schemas.Run(
        **fields,
        reported_key=run.reported_key,
        changed_by=run.changed_by,
        stopped_by=run.stopped_by,
        notes=run.notes,
        config=run.config,
        study=study,
        failure=failure,
        trained_seconds=seconds,
        versions=run.versions,
        command=run.command,
        actions=to_actions(run, checkpoints),
        roles=[],
        start_steps=[],
        warnings=[],
        executor=run.executor,
        job_options=run.job_options,
        needs=read_needs(run.needs),
        interruptible=run.interruptible,
        interruptions=run.interruptions,
        core_hours=run.core_hours,
        gpu_hours=run.gpu_hours,
        submission=None,
    )

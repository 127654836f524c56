"""Operations on runs. Every function works inside the caller's transaction."""

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session, defer

from arcadia_backend import caps, configuration, jobs, usage
from arcadia_backend.checkpoints.availability import find_chosen
from arcadia_backend.checkpoints.service import copy_checkpoint
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Checkpoint, Job, Run, RunTag, Usage
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.files.service import delete_run_files
from arcadia_backend.logs import note
from arcadia_backend.projects.service import (
    assign,
    default_executor,
    project_of,
    require_editor,
    require_set_up,
    resolve,
    why_not_editable,
)
from arcadia_backend.provenance import delete_unused_documents, document_hashes
from arcadia_backend.replays.service import forget_analyses, list_replays
from arcadia_backend.runs.list_query import LONG_COLUMNS
from arcadia_backend.runs.names import name_for_copy
from arcadia_backend.runs.schemas import MAX_TAGS, Action, BulkAction, CloneRun, CreateRun, EditRun, ForkRun
from arcadia_backend.runs.states import Already, Change, Refusal, announce_run, decide, queue_on_request
from arcadia_backend.web.lookup import require_trained
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.worker_api import EXECUTOR_TITLES, WORKERS, QueueName

_LOG_MESSAGES: dict[Action, str] = {"stop": "Stop requested.", "pause": "Pause requested.", "resume": "Resumed."}


def create(session: Session, new: CreateRun) -> Run:
    """Create a run and queue it."""
    config = configuration.build_config(new.config, new.preset, new.overrides or {})
    project_id = resolve(session, new.project)
    caps.require_hours(session, project_id)
    columns: dict[str, Any] = {"priority": new.priority, "notes": new.notes, "project_id": project_id}
    columns["executor"] = choose_executor(session, new.executor, project_id, new.job_options)
    columns["job_options"] = new.job_options
    columns |= {"needs": new.needs.to_text(), "interruptible": new.interruptible}
    if columns["needs"] and columns["executor"] != WORKERS:
        message = (
            f"Only runs on workers have needs. {EXECUTOR_TITLES[columns['executor']]} takes those of its settings."
        )
        raise Invalid(FieldError(field="needs", message=message))
    return add_to_queue(session, config, name=new.name, queue=new.queue, tags=new.tags, **columns)


def choose_executor(session: Session, name: str | None, project_id: int, job_options: Sequence[str]) -> str:
    """Return where a run trains: the chosen executor, or the default of its project or of the installation."""
    chosen = name or default_executor(session, project_id)
    require_set_up(session, chosen)
    if job_options and chosen != "slurm":
        raise Invalid(FieldError(field="job_options", message="Only jobs of Slurm have options. Train on Slurm."))
    return chosen


def edit(session: Session, run: Run, changes: EditRun) -> None:
    """Change the name, notes, priority, tags or project of a run."""
    for column in ("name", "notes", "priority", "interruptible"):
        if (value := getattr(changes, column)) is not None:
            setattr(run, column, value)
    if changes.needs is not None:
        run.needs = changes.needs.to_text()
    if changes.tags is not None:
        _set_tags(run, changes.tags)
    if changes.project is not None:
        assign(session, run, changes.project)
    run.changed_by = current().name or run.changed_by
    announce_run(session, run.id, "run.changed")


def _set_tags(run: Run, tags: Iterable[str]) -> None:
    kept = {tag.tag: tag for tag in run.tags}
    run.tags = [kept.get(tag) or RunTag(tag=tag) for tag in dict.fromkeys(tags)]


def _change_tags(session: Session, run: Run, action: Literal["tag", "untag"], changed: Collection[str]) -> None:
    """Add or remove tags. Raise Conflict if the run would have too many."""
    before = [tag.tag for tag in run.tags]
    tags = (
        list(dict.fromkeys([*before, *changed])) if action == "tag" else [tag for tag in before if tag not in changed]
    )
    if len(tags) > MAX_TAGS:
        raise Conflict(f"Run {run.id} would have more than {MAX_TAGS} tags.")
    if tags != before:
        _set_tags(run, tags)
        announce_run(session, run.id, "run.changed")


def act(session: Session, run: Run, action: Action) -> None:
    """Apply an action to a run. Raise Conflict if it is not allowed."""
    decision = decide(action, run)
    if isinstance(decision, Refusal):
        raise Conflict(f"Run {run.id} {decision.reason}")
    if isinstance(decision, Already):
        return
    if action == "purge":
        _purge(session, run)
        return
    if action in ("stop", "pause", "resume"):
        run.stopped_by = current().name or None
    if action in ("archive", "restore"):
        run.archived_at = utc_now() if action == "archive" else None
    _apply(session, run, action, decision)
    announce_run(session, run.id, "run.changed", "run.log")


def clone(session: Session, run: Run, changes: CloneRun) -> Run:
    """Queue a new run with the same configuration, except for some fields."""
    require_trained(run, "clone")
    config = configuration.override(run.config, changes.overrides)
    name = changes.name or name_for_copy(run, configuration.to_document(config))
    return add_to_queue(session, config, name=name, **_for_copy(session, run, config, changes.project))


def fork(session: Session, run: Run, changes: ForkRun) -> Run:
    """Queue a run that continues from one of this run's checkpoints. It gets its own copy of the file."""
    require_trained(run, "fork")
    checkpoint = find_chosen(session, run, changes.checkpoint_id, field="checkpoint_id", action="fork")
    config = configuration.override(run.config, changes.overrides)
    configuration.refuse_other_shape(config, configuration.override(run.config, {}))
    configuration.refuse_no_steps(config, checkpoint.step)
    columns = _for_copy(session, run, config, changes.project)
    child = add_to_queue(session, config, name=changes.name or run.name, **columns)
    child.parent_run_id, child.parent_checkpoint_id, child.parent_step = run.id, checkpoint.id, checkpoint.step
    child.step, child.frames = checkpoint.step, checkpoint.frames
    copy_checkpoint(session, checkpoint, child)
    note(session, child, f"Forked from run {run.id} at step {checkpoint.step:,}.")
    return child


def bulk(
    session: Session, action: BulkAction, tags: Collection[str], ids: Sequence[int], seconds: float
) -> dict[int, str | None]:
    """Apply an action to runs until the time is up. Return for each handled run why it was skipped, or None.

    The caller may have lost the right to change some of them.
    """
    ends = time.monotonic() + seconds
    unread = [defer(getattr(Run, name)) for name in LONG_COLUMNS]
    query = select(Run).where(Run.id.in_(ids)).order_by(Run.id).options(*unread)
    locked = session.scalars(query.with_for_update())
    runs = {run.id: run for run in locked}
    outcomes: dict[int, str | None] = {}
    for run_id in ids:
        run = runs.get(run_id)
        outcomes[run_id] = _try_action(session, run, action, tags) if run is not None else f"There is no run {run_id}."
        if time.monotonic() > ends:
            break
    return outcomes


def _try_action(session: Session, run: Run, action: BulkAction, tags: Collection[str]) -> str | None:
    """Apply an action. Return why it is not allowed, or None."""
    if (reason := why_not_editable(run.project_id)) is not None:
        return f"Run {run.id}: {reason}"
    try:
        if action == "tag" or action == "untag":
            _change_tags(session, run, action, tags)
        else:
            act(session, run, action)
    except Conflict as refused:
        return refused.detail
    return None


def add_to_queue(
    session: Session, config: RunConfig, *, name: str | None = None, queue: QueueName | None = None, **columns: Any
) -> Run:
    """Store a run and queue it."""
    tags = dict.fromkeys(columns.pop("tags", []))
    run = Run(
        tags=[RunTag(tag=tag) for tag in tags],
        **configuration.to_run_columns(config, name, queue),
        **columns,
    )
    session.add(run)
    session.flush()
    announce_run(session, run.id, "run.changed")
    return run


def _apply(session: Session, run: Run, action: Action, change: Change) -> None:
    if change.desired is not None and change.desired != run.desired:
        run.desired = change.desired
        note(session, run, _LOG_MESSAGES[action])
    if change.state is None or change.state == run.state:
        return
    run.state, run.state_reason = change.state, None
    if change.state == "stopped":
        run.finished_at = utc_now()
    if change.state == "queued":
        queue_on_request(run)


def _purge(session: Session, run: Run) -> None:
    run_id, project_id = run.id, run.project_id
    usage.end(session, Usage.run_id == run_id)
    # Jobs of other projects may use its checkpoints, and their agents may act in the futures of its replays.
    require_editor(session, "runs", run_id)
    with backend_rights(session):
        # End the unfinished jobs of other runs with a checkpoint of this run.
        of_run = select(Checkpoint.id).where(Checkpoint.run_id == run.id)
        unfinished = (Job.checkpoint_id.in_(of_run), Job.run_id != run.id, Job.state.in_(jobs.UNFINISHED))
        for job in session.scalars(select(Job).where(*unfinished).with_for_update()).all():
            jobs.set_state(session, job, "failed", f"Run {run_id} was deleted.")
        forget_analyses(session, list_replays(session, run))
    delete_run_files(session, run_id)
    documents = document_hashes(session, run_id)
    session.delete(run)
    session.flush()
    delete_unused_documents(session, documents)
    announce_run(session, run_id, "run.removed", project_id=project_id)


def _for_copy(session: Session, run: Run, config: RunConfig, project: str | None) -> dict[str, Any]:
    """Return the queue, the executor with its options, the tags and the project of a copy.

    Raise Conflict if its hours are used.
    """
    # The queue of the original run, unless the copy trains on another device.
    is_same_device = config.device == run.config.get("device")
    project_id = project_of(session, run) if project is None else resolve(session, project)
    caps.require_hours(session, project_id)
    return {
        "queue": run.queue if run.queue is not None and is_same_device else configuration.queue_for(config),
        "executor": run.executor,
        "job_options": run.job_options,
        "needs": run.needs,
        "interruptible": run.interruptible,
        "tags": [tag.tag for tag in run.tags],
        "project_id": project_id,
    }

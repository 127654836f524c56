"""What users do with runs; every function works inside the caller's transaction."""

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.service import copy_checkpoint, find_forkable
from backend.configuration import configs
from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Run, RunTag
from backend.errors import Conflict, FieldError, Invalid
from backend.files.service import delete_run_files
from backend.live.notices import publish
from backend.logs.service import note
from backend.runs.names import name_for_copy
from backend.runs.notices import announce_run
from backend.runs.schemas import Action, CloneRun, CreateRun, EditRun, ForkRun
from backend.runs.states import Already, Change, Refusal, decide
from workers.contract.config import RunConfig
from workers.contract.worker_api import QueueName

_SAID: dict[Action, str] = {"stop": "Stop was asked for.", "pause": "Pause was asked for.", "resume": "Resumed."}


def create(session: Session, wanted: CreateRun) -> Run:
    """Put a new run in the queue."""
    overrides = wanted.overrides or {}
    if wanted.preset is not None:
        if wanted.config is not None:
            raise Invalid(FieldError(field="config", message="send either config or preset, not both"))
        config = configs.from_preset(wanted.preset, overrides)
    elif wanted.config is not None:
        config = configs.checked(wanted.config, overrides)
    else:
        raise Invalid(FieldError(field="config", message="send config, or preset with overrides"))
    return put_in_queue(
        session,
        config,
        name=wanted.name,
        queue=wanted.queue,
        priority=wanted.priority,
        notes=wanted.notes,
        tags=wanted.tags,
    )


def edit(session: Session, run: Run, changes: EditRun) -> None:
    """Change what the user wrote about a run."""
    for column in ("name", "notes", "priority"):
        if (value := getattr(changes, column)) is not None:
            setattr(run, column, value)
    if changes.tags is not None:
        kept = {tag.tag: tag for tag in run.tags}
        run.tags = [kept.get(tag) or RunTag(tag=tag) for tag in dict.fromkeys(changes.tags)]
    announce_run(session, run.id, "run.changed")


def act(session: Session, run: Run, action: Action) -> None:
    """Stop, pause, resume, archive, restore or purge a run, or say why that is not possible."""
    decision = decide(action, run)
    if isinstance(decision, Refusal):
        raise Conflict(decision.sentence)
    if isinstance(decision, Already):
        return
    if action == "purge":
        _purge(session, run)
        return
    if action in ("archive", "restore"):
        run.archived_at = utc_now() if action == "archive" else None
    _apply(session, run, action, decision)
    announce_run(session, run.id, "run.changed", "run.log")


def clone(session: Session, run: Run, wanted: CloneRun) -> Run:
    """Queue the same configuration again, with some fields changed."""
    config = configs.changed(run.config, wanted.overrides)
    name = wanted.name or name_for_copy(run, configs.as_document(config))
    return put_in_queue(session, config, name=name, queue=_same_queue(run, config), tags=_tags(run))


def fork(session: Session, run: Run, wanted: ForkRun) -> Run:
    """Queue a run that goes on from one of this run's checkpoints, with its own copy of that file."""
    checkpoint = find_forkable(session, run, wanted.checkpoint_id)
    config = configs.changed(run.config, wanted.overrides)
    configs.refuse_other_shape(config, configs.changed(run.config, {}))
    configs.refuse_no_steps(config, checkpoint.step)
    child = put_in_queue(session, config, name=wanted.name or run.name, queue=_same_queue(run, config), tags=_tags(run))
    child.parent_run_id, child.parent_checkpoint_id, child.parent_step = run.id, checkpoint.id, checkpoint.step
    child.step, child.frames = checkpoint.step, checkpoint.frames
    copy_checkpoint(session, checkpoint, child)
    note(session, child, f"Forked from run {run.id} at step {checkpoint.step:,}.")
    return child


def bulk(session: Session, action: Action, ids: Sequence[int], seconds: float) -> dict[int, str | None]:
    """Do an action to the first of many runs, for so long; return why each was skipped, if it was."""
    ends = time.monotonic() + seconds
    found = session.scalars(select(Run).where(Run.id.in_(ids)).order_by(Run.id).with_for_update())
    runs = {run.id: run for run in found}
    told: dict[int, str | None] = {}
    for run_id in ids:
        run = runs.get(run_id)
        told[run_id] = _refusal(session, run, action) if run is not None else f"There is no run {run_id}."
        if time.monotonic() > ends:
            break
    return told


def _refusal(session: Session, run: Run, action: Action) -> str | None:
    """Do an action, or return why the run refuses it."""
    try:
        act(session, run, action)
    except Conflict as refused:
        return refused.detail
    return None


def put_in_queue(
    session: Session, config: RunConfig, *, name: str | None = None, queue: QueueName | None = None, **columns: Any
) -> Run:
    """Add a run that waits for a worker."""
    tags = dict.fromkeys(columns.pop("tags", []))
    run = Run(
        name=name or configs.default_name(config),
        algorithm=config.algorithm,
        env=config.env,
        queue=queue or configs.queue_for(config),
        config=configs.as_document(config),
        total_steps=config.total_steps,
        tags=[RunTag(tag=tag) for tag in tags],
        **columns,
    )
    session.add(run)
    session.flush()
    announce_run(session, run.id, "run.changed")
    return run


def _apply(session: Session, run: Run, action: Action, change: Change) -> None:
    if change.desired is not None and change.desired != run.desired:
        run.desired = change.desired
        note(session, run, _SAID[action])
    if change.state is None or change.state == run.state:
        return
    run.state = change.state
    run.state_reason = None
    if change.state == "stopped":
        run.finished_at = utc_now()
    if change.state == "queued":
        run.queued_at = utc_now()
        # A user decided to go on: forget earlier lost workers, and show the run, since an archived run must not train.
        run.requeues, run.archived_at = 0, None


def _purge(session: Session, run: Run) -> None:
    run_id = run.id
    delete_run_files(session, run_id)
    session.delete(run)
    session.flush()
    after_commit(session, lambda: publish("run.removed", {"run_id": run_id}))


def _same_queue(run: Run, config: RunConfig) -> QueueName:
    asked = configs.queue_for(config)
    return run.queue if config.device == run.config.get("device") else asked


def _tags(run: Run) -> list[str]:
    return [tag.tag for tag in run.tags]

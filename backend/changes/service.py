"""Requests and reports of changes. Every function works inside the caller's transaction, which has locked the run."""

from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.changes.queries import list_waiting
from backend.changes.schemas import RequestChange
from backend.changes.wording import describe
from backend.checkpoints.service import list_resumable
from backend.configuration import configs
from backend.database.tables import Attempt, Run, RunChange
from backend.errors import Conflict, FieldError, Invalid
from backend.events.sequence import to_datetime
from backend.logs.service import note
from backend.runs.notices import announce_run
from backend.runs.states import queue_on_request
from backend.web.lookup import refuse_reported
from workers.contract.changes import changed
from workers.contract.config import TrainingConfig
from workers.contract.events import Changed
from workers.contract.values import LONGEST_MESSAGE
from workers.contract.worker_api import ACTIVE, ENDED

# Every heartbeat carries the waiting changes.
MAX_WAITING = 100


def request_change(session: Session, run: Run, request: RequestChange, by: str) -> RunChange:
    """Store a change. A live run applies it at its next update, and a run that has ended is queued for more steps."""
    refuse_reported(run, "change")
    waiting = list_waiting(session, run.id)
    if len(waiting) >= MAX_WAITING:
        raise Conflict(f"Run {run.id} has {len(waiting)} changes that wait. Let it apply these first.")
    before = _expected_config(run, waiting)
    fields = dict(request.fields)
    if request.more_steps is not None:
        fields["total_steps"] = before.total_steps + request.more_steps
    after = _validated(before, run, fields)
    ends = run.state in ENDED or (run.state in ACTIVE and run.desired == "stop")
    if ends:
        _refuse_unless_longer(session, run, before, after)
    old, new = configs.to_document(before), configs.to_document(after)
    change = RunChange(
        run_id=run.id,
        number=1 + (session.scalar(select(func.max(RunChange.number)).where(RunChange.run_id == run.id)) or 0),
        fields={name: new[name] for name in fields},
        previous={name: old[name] for name in fields},
        requested_by=by,
    )
    session.add(change)
    note(session, run, f"Change {change.number} requested by {by}: {describe(change)}.")
    if run.state in ENDED:
        _queue_again(session, run)
    session.flush()
    announce_run(session, run.id, "run.changed", "run.log")
    return change


def store_applied(session: Session, run: Run, attempt: Attempt, event: Changed) -> None:
    """Store that a trainer has applied a change. A repeated report changes nothing, and is logged if it differs."""
    change = session.get(RunChange, (run.id, event.number))
    if change is None:  # requested in the trainer's directory
        change = RunChange(run_id=run.id, number=event.number, fields=event.fields, previous=event.previous)
        session.add(change)
    if change.applied_at is not None:
        if change.fields != event.fields:
            other = ", ".join(f"{name}={value}" for name, value in event.fields.items())
            sentence = f"Change {change.number} was reported again with other values, which are not shown: {other}."
            note(session, run, sentence[:LONGEST_MESSAGE], "warning")
        return
    change.fields, change.previous = event.fields, event.previous
    change.applied_at, change.applied_step, change.attempt = to_datetime(event.time), event.step, attempt.attempt
    run.config = run.config | {name: value for name, value in event.fields.items() if name in run.config}
    run.total_steps = run.config.get("total_steps", run.total_steps)
    note(
        session,
        run,
        f"Change {change.number} applied at step {event.step:,}: {describe(change)}.",
    )
    session.flush()


def has_steps_left(session: Session, run: Run) -> bool:
    """Return True if a change that its trainer did not see gives a finished run more steps."""
    waiting = list_waiting(session, run.id)
    # Without validation, because the run may be of a plug-in that this server lacks.
    fields = {name: value for change in waiting for name, value in change.fields.items()}
    return bool(waiting) and run.desired == "run" and int({**run.config, **fields}["total_steps"]) > run.step


def _expected_config(run: Run, waiting: list[RunChange]) -> TrainingConfig:
    """Return the configuration after the waiting changes."""
    fields = {name: value for change in waiting for name, value in change.fields.items()}
    return configs.override(run.config, fields)


def _validated(before: TrainingConfig, run: Run, fields: Mapping[str, object]) -> TrainingConfig:
    """Return the configuration with new values. Raise Invalid for wrong or unsafe ones."""
    after = changed(before, fields)
    if isinstance(after, list):
        raise Invalid(*(FieldError(field=f"fields.{each.field}", message=each.message) for each in after))
    if after == before:
        raise Invalid(FieldError(field="fields", message="the run has these values already"))
    if "total_steps" in fields and after.total_steps <= run.step:
        message = f"the run has {run.step:,} steps already. Use a larger total, or stop the run"
        raise Invalid(FieldError(field="fields.total_steps", message=message))
    return after


def _refuse_unless_longer(session: Session, run: Run, before: TrainingConfig, after: TrainingConfig) -> None:
    """Raise Conflict if a run that has ended gets no more steps, or cannot continue."""
    if run.state not in ENDED:
        raise Conflict(f"Run {run.id} is stopping. Change it once it has stopped.")
    if after.total_steps <= max(before.total_steps, run.step):
        raise Conflict(
            f"Run {run.id} has {run.state}. Give it more than {before.total_steps:,} total steps to train it longer, "
            "or fork one of its checkpoints."
        )
    if run.step > 0 and not list_resumable(session, run):
        raise Conflict(f"Run {run.id} has no checkpoint to continue from. Clone it to start over.")


def _queue_again(session: Session, run: Run) -> None:
    queue_on_request(run)
    run.desired = "run"
    run.failure_message = run.failure_traceback = run.finished_at = None
    note(session, run, "Back in the queue to train longer.")

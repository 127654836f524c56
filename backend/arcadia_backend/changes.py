"""Changes of the configuration of runs, from the request to the trainer's report."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend import configuration
from arcadia_backend.checkpoints.service import list_resumable
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Attempt, Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.events import to_datetime
from arcadia_backend.logs import note
from arcadia_backend.runs.names import format_value, title_in_text
from arcadia_backend.runs.states import announce_run, queue_on_request
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, PathRun, find_run, require_trained
from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.events import MAX_FIELDS, Changed, RequestedChange, changed
from arcadia_workers.contract.values import LONGEST_MESSAGE, NO_BOOLEAN, Text
from arcadia_workers.contract.worker_api import ACTIVE, ENDED

MAX_STEPS = 10_000_000_000


class RequestChange(BaseModel):
    """New values of fields of a run's configuration, more steps to train, or both."""

    model_config = ConfigDict(extra="forbid")

    fields: Annotated[
        dict[Text, JsonValue],
        Field(
            max_length=MAX_FIELDS,
            description="Fields with `changeable` in the configuration schema. Fork the run to change others.",
        ),
    ] = {}
    more_steps: (
        Annotated[int, Field(ge=1, le=MAX_STEPS, description="Steps to add to `total_steps`."), NO_BOOLEAN] | None
    ) = None

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if not self.fields and self.more_steps is None:
            raise ValueError("give fields or more_steps")
        if "total_steps" in self.fields and self.more_steps is not None:
            raise ValueError("give either fields.total_steps or more_steps, not both")
        return self


class RunChange(BaseModel):
    """A change of a run's configuration."""

    model_config = ConfigDict(from_attributes=True)

    number: int = Field(description="Counts the changes of a run, from 1.")
    fields: dict[str, Any] = Field(description="The new values.")
    previous: dict[str, Any] = Field(description="The values before.")
    requested_at: datetime
    requested_by: str | None = Field(
        description="User or address, and kind of client, as the request says: ana@gpu-box (CLI). Null if unknown."
    )
    applied_at: datetime | None = Field(description="Null while the change waits for the run's next update.")
    applied_step: int | None = Field(description="Updates after this step use the new values.")
    attempt: int | None = Field(description="The attempt that applied it.")


class RunChanges(BaseModel):
    """The changes of a run. The run's `config` has the current values."""

    items: list[RunChange] = Field(description="Oldest first.")
    start_config: dict[str, Any] = Field(description="The configuration before all changes.")


def load_changes(session: Session, run_id: int) -> Sequence[tables.RunChange]:
    """Return the changes of a run in order."""
    query = select(tables.RunChange).where(tables.RunChange.run_id == run_id)
    return session.scalars(query.order_by(tables.RunChange.number)).all()


def read_changes(session: Session, run: Run) -> RunChanges:
    """Return the changes of a run, and the configuration before them."""
    changes = load_changes(session, run.id)
    return RunChanges(
        items=[RunChange.model_validate(change) for change in changes],
        start_config=start_config(run.config, changes),
    )


def start_config(config: Mapping[str, Any], changes: Sequence[tables.RunChange]) -> dict[str, Any]:
    """Return a run's configuration with its applied changes undone."""
    applied = [change for change in changes if change.applied_step is not None]
    # A later one was requested with the earlier one's value, but a trainer may have applied them in another order.
    applied.sort(key=lambda change: (change.attempt or 0, change.applied_at, change.number))
    before = dict(config)
    for change in reversed(applied):
        before |= change.previous
    return before


def list_waiting(session: Session, run_id: int) -> list[tables.RunChange]:
    """Return the changes of a run that no trainer has reported as applied."""
    query = select(tables.RunChange).where(tables.RunChange.run_id == run_id, tables.RunChange.applied_at.is_(None))
    return [*session.scalars(query.order_by(tables.RunChange.number))]


def list_requested(session: Session, run_id: int) -> list[RequestedChange]:
    """Return the waiting changes of a run for its trainer."""
    return [RequestedChange(number=row.number, fields=row.fields) for row in list_waiting(session, run_id)]


def describe(change: tables.RunChange) -> str:
    """Return a sentence part such as: learning rate 0.0007 → 0.0001, total steps 1,000 → 2,000."""
    return ", ".join(
        f"{title_in_text(name)} {_value(change.previous.get(name))} → {_value(value)}"
        for name, value in change.fields.items()
    )


def _value(value: Any) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else format_value(value)


# Every heartbeat carries the waiting changes.
MAX_WAITING = 100


def request_change(session: Session, run: Run, request: RequestChange) -> tables.RunChange:
    """Store a change. A live run applies it at its next update, and a run that has ended is queued for more steps."""
    require_trained(run, "change")
    waiting = list_waiting(session, run.id)
    if len(waiting) >= MAX_WAITING:
        raise Conflict(f"Run {run.id} has {len(waiting)} changes that wait. Let it apply these first.")
    expected = {name: value for change in waiting for name, value in change.fields.items()}
    before = configuration.override(run.config, expected)
    fields = dict(request.fields)
    if request.more_steps is not None:
        fields["total_steps"] = before.total_steps + request.more_steps
    after = _validated(before, run, fields)
    ends = run.state in ENDED or (run.state in ACTIVE and run.desired == "stop")
    if ends:
        _refuse_unless_longer(session, run, before, after)
    old, new = configuration.to_document(before), configuration.to_document(after)
    change = tables.RunChange(
        run_id=run.id,
        number=1
        + (session.scalar(select(func.max(tables.RunChange.number)).where(tables.RunChange.run_id == run.id)) or 0),
        fields={name: new[name] for name in fields},
        previous={name: old[name] for name in fields},
        requested_by=current().caller,
    )
    session.add(change)
    run.changed_by = current().name or run.changed_by
    note(session, run, f"Change {change.number} requested by {current().caller}: {describe(change)}.")
    if run.state in ENDED:
        queue_on_request(run)
        run.desired = "run"
        run.failure_message = run.failure_traceback = run.finished_at = None
        note(session, run, "Back in the queue to train longer.")
    session.flush()
    announce_run(session, run.id, "run.changed", "run.log")
    return change


def store_applied(session: Session, run: Run, attempt: Attempt, event: Changed) -> None:
    """Store that a trainer has applied a change. A repeated report changes nothing, and is logged if it differs."""
    change = session.get(tables.RunChange, (run.id, event.number))
    if change is None:  # requested in the trainer's directory
        change = tables.RunChange(run_id=run.id, number=event.number, fields=event.fields, previous=event.previous)
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


router = APIRouter(tags=["runs"])


@router.post("/runs/{run_id}/changes", status_code=201)
def change_run(db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: RequestChange) -> RunChange:
    """Change settings of a run while it trains, or train it longer after it has ended.

    A live run applies the change at its next update. A run that waits or is paused applies it when it continues. A run
    that has ended is queued again if it gets more steps, and continues from its last checkpoint.
    """
    with once.write(db) as session:
        run = find_run(session, run_id, lock=True)
        change = request_change(session, run, request)
        bell.ring_after_commit(session, run)
        return once.store(session, RunChange.model_validate(change))


@router.get("/runs/{run_id}/changes")
def list_changes(db: Db, run: PathRun) -> RunChanges:
    """Return the changes of a run, and its configuration before them."""
    with db.read() as session:
        return read_changes(session, run)

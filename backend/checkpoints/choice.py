"""The choice of a checkpoint in a request: an id, the newest, the best or an alias."""

from typing import Annotated, Any, Literal

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.aliases.queries import find_current
from backend.aliases.schemas import RESERVED, AliasName
from backend.checkpoints.availability import NO_CHECKPOINTS, count_checkpoints, why_no_checkpoint
from backend.checkpoints.service import find_kept, list_resumable
from backend.database.tables import Checkpoint, Run
from backend.errors import Conflict, FieldError, Invalid
from workers.contract.values import Id


def _explain(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        raise PydanticCustomError("checkpoint", "give the id of a checkpoint, newest, best or an alias") from error


CheckpointChoice = Annotated[Id | Literal["newest", "best"] | AliasName, WrapValidator(_explain)]


def find_chosen(
    session: Session, run: Run, choice: int | str, *, field: str = "checkpoint", action: str = "use"
) -> Checkpoint:
    """Return the chosen checkpoint. Raise Conflict if it has no file, or Invalid if the id or alias is wrong."""
    if isinstance(choice, int):
        return find_kept(session, run, choice, field=field, action=action)
    if choice not in RESERVED:
        return find_kept(session, run, _find_named(session, run, choice, field), field=field, action=action)
    newest_first = list_resumable(session, run)
    if not newest_first:
        count = count_checkpoints(session, [run.id]).get(run.id, NO_CHECKPOINTS)
        raise Conflict(why_no_checkpoint(run, count, f"Run {run.id}") or f"Run {run.id} has no checkpoint.")
    if choice == "newest":
        return newest_first[0]
    best = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.best, Checkpoint.file_id.is_not(None))
    found = session.scalar(best.limit(1))
    if found is None:
        raise Conflict(f"Run {run.id} has no best checkpoint yet, because no episode has ended. Choose the newest one.")
    return found


def _find_named(session: Session, run: Run, name: str, field: str) -> int:
    """Return the id of the checkpoint that an alias names. Raise Invalid unless it is one of the run."""
    alias = find_current(session, name)
    if alias is None or alias.checkpoint_id is None:
        message = f"there is no alias {name!r}: use newest, best or the id of a checkpoint"
        raise Invalid(FieldError(field=field, message=message))
    if alias.run_id != run.id:
        message = f"{name} names a checkpoint of run {alias.run_id}, not of run {run.id}"
        raise Invalid(FieldError(field=field, message=message))
    return alias.checkpoint_id

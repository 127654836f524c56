"""The choice of a checkpoint in a request: an id, the newest or the best."""

from typing import Annotated, Any, Literal

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.service import find_kept, list_resumable
from backend.database.tables import Checkpoint, Run
from backend.errors import Conflict
from workers.contract.values import Id


def _explain(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        raise PydanticCustomError("checkpoint", "give the id of a checkpoint, newest or best") from error


CheckpointChoice = Annotated[Id | Literal["newest", "best"], WrapValidator(_explain)]


def find_chosen(session: Session, run: Run, choice: int | str) -> Checkpoint:
    """Return the chosen checkpoint. Raise Conflict if it has no file, or Invalid if the id is wrong."""
    if isinstance(choice, int):
        return find_kept(session, run, choice, field="checkpoint", action="use")
    newest_first = list_resumable(session, run)
    if not newest_first:
        raise Conflict(f"Run {run.id} has no checkpoint yet. Try again after it has saved its first one.")
    if choice == "newest":
        return newest_first[0]
    best = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.best, Checkpoint.file_id.is_not(None))
    found = session.scalar(best.limit(1))
    if found is None:
        raise Conflict(f"Run {run.id} has no best checkpoint yet, because no episode has ended. Choose the newest one.")
    return found

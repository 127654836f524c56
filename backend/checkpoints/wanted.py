"""How a request names a checkpoint, and which one it means."""

from typing import Annotated, Any, Literal

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.keeping import kept, resumable
from backend.database.tables import Checkpoint, Run
from backend.errors import Conflict
from workers.contract.values import Id


def _told_in_words(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        raise PydanticCustomError("checkpoint", "give the number of a checkpoint, newest or best") from error


WantedCheckpoint = Annotated[Id | Literal["newest", "best"], WrapValidator(_told_in_words)]


def wanted_checkpoint(session: Session, run: Run, wanted: int | str) -> Checkpoint:
    """The checkpoint that a user means, if its file is kept."""
    if isinstance(wanted, int):
        return kept(session, run, wanted, field="checkpoint", do="choose")
    there = resumable(session, run)
    if not there:
        raise Conflict(f"Run {run.id} has no checkpoint yet. Ask again once it has saved its first one.")
    if wanted == "newest":
        return there[0]
    best = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.best, Checkpoint.file_id.is_not(None))
    found = session.scalar(best.limit(1))
    if found is None:
        raise Conflict(f"Run {run.id} has no best checkpoint yet, since no episode has ended. Choose the newest one.")
    return found

"""Which agent of a run can be played, and why none can. Requests and the buttons of pages use the same rule."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.aliases import RESERVED, AliasName, find_current
from arcadia_backend.checkpoints.service import find_kept, list_resumable
from arcadia_backend.database.tables import Checkpoint, File, Run
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.files.service import files_root
from arcadia_backend.files.storage import stored_path
from arcadia_backend.web.lookup import why_no_agent, why_not_trained
from arcadia_workers.contract.agents.weights import MAX_HEADER_BYTES
from arcadia_workers.contract.layout import METADATA, WEIGHTS_ONLY
from arcadia_workers.contract.values import Id
from arcadia_workers.contract.worker_api import ENDED

CACHED_FILES = 2_000


@dataclass(frozen=True)
class CheckpointCount:
    """The number of checkpoints that a run has saved, and of those that have a file."""

    saved: int = 0
    kept: int = 0


NO_CHECKPOINTS = CheckpointCount()


def count_checkpoints(session: Session, run_ids: Sequence[int]) -> dict[int, CheckpointCount]:
    """Return the checkpoint count of each run that has saved any."""
    query = select(Checkpoint.run_id, func.count(), func.count(Checkpoint.file_id))
    rows = session.execute(query.where(Checkpoint.run_id.in_(run_ids)).group_by(Checkpoint.run_id))
    return {run_id: CheckpointCount(saved, kept) for run_id, saved, kept in rows}


def why_no_checkpoint(run: Run, count: CheckpointCount, subject: str) -> str | None:
    """Return why no checkpoint of a run can be used now, as a sentence, or None if one can."""
    if count.kept:
        return None
    if count.saved:
        return f"{subject} has no checkpoint any more: all were deleted, or left out of the archive that it came from."
    if run.state in ENDED:
        return f"{subject} ended before it saved a checkpoint, so it has no agent."
    return f"{subject} has no checkpoint yet. The first one is saved a few seconds after training starts."


def why_not_playable(run: Run, count: CheckpointCount) -> str | None:
    """Return why the agent of a run cannot be evaluated, recorded, watched or exported now, or None if it can."""
    if (clause := why_no_agent(run)) is not None:
        return _to_sentence(clause)
    return why_no_checkpoint(run, count, "This run")


def why_not_changeable(run: Run, count: CheckpointCount) -> str | None:
    """Return why the settings of a run cannot be changed now, or None if they can."""
    if (clause := why_not_trained(run)) is not None:
        return _to_sentence(clause)
    if run.state in ENDED and run.step > 0 and not count.kept:
        return "This run has no checkpoint to continue from. Launch it again with other settings."
    return None


def _to_sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."


def find_weights_only(session: Session, checkpoints: Sequence[Checkpoint]) -> set[int]:
    """Return the ids of the checkpoints whose files have only weights, so that nothing else can be restored."""
    files = select(File).where(File.id.in_([row.file_id for row in checkpoints if row.file_id is not None]))
    paths = {file.id: stored_path(files_root(session), file.stored_path) for file in session.scalars(files)}
    weights_only = set()
    for row in checkpoints:
        # A damaged or missing file is reported when it is used.
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            if row.file_id in paths and _read_facts(paths[row.file_id], row.sha256).get(WEIGHTS_ONLY) is True:
                weights_only.add(row.id)
    return weights_only


@lru_cache(maxsize=CACHED_FILES)
def _read_facts(path: Path, _sha256: str) -> dict[str, Any]:
    """Return the facts of a checkpoint. The hash is part of the key, since a path is reused. Errors are not cached."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = file.read(min(size, MAX_HEADER_BYTES))
    facts: dict[str, Any] = json.loads(json.loads(header)["__metadata__"][METADATA])["facts"]
    return facts


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
    checkpoint = session.scalar(best.limit(1))
    if checkpoint is None:
        raise Conflict(f"Run {run.id} has no best checkpoint yet, because no episode has ended. Choose the newest one.")
    return checkpoint


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

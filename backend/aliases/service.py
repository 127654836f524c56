"""Changes of aliases. Every function works inside the caller's transaction."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.aliases.queries import current_changes, find_current
from backend.aliases.schemas import RESERVED, SetAlias
from backend.database.engine import after_commit
from backend.database.tables import AliasChange, Checkpoint, Run
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.live.notices import publish
from backend.web.lookup import find_run

MAX_ALIASES = 1_000


def set_alias(session: Session, wanted: SetAlias) -> None:
    """Point an alias to a checkpoint. Do nothing if it already points there."""
    if wanted.name in RESERVED:
        raise Invalid(FieldError(field="name", message=f"{wanted.name} already has a meaning; choose another name"))
    checkpoint = session.get(Checkpoint, wanted.checkpoint_id)
    if checkpoint is None:
        raise Invalid(FieldError(field="checkpoint_id", message="there is no such checkpoint"))
    # Lock the run so that the checkpoint is not pruned in the meantime.
    run = find_run(session, checkpoint.run_id, lock=True)
    session.refresh(checkpoint)
    if checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was deleted. Choose a checkpoint that has a file.")
    before = find_current(session, wanted.name)
    if before is not None and (before.run_id, before.checkpoint_id) == (run.id, checkpoint.id):
        return
    if before is None and _count(session) >= MAX_ALIASES:
        raise Conflict(f"There are {MAX_ALIASES} aliases, which is the limit. Remove one first.")
    _add(session, wanted, checkpoint, run)
    if before is not None:
        _announce(session, before.run_id)


def remove_alias(session: Session, name: str, who: str | None, why: str) -> None:
    """Remove an alias. Its history stays. Raise NotFound if there is none."""
    before = find_current(session, name)
    if before is None:
        raise NotFound(f"There is no alias {name!r}.")
    removed = {"run_id": before.run_id, "run_name": before.run_name, "step": before.step}
    session.add(AliasChange(name=name, who=who, why=why, **removed))
    session.flush()
    _announce(session, before.run_id)


def _count(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(current_changes().subquery())) or 0


def _add(session: Session, wanted: SetAlias, checkpoint: Checkpoint, run: Run) -> None:
    session.add(
        AliasChange(
            name=wanted.name,
            checkpoint_id=checkpoint.id,
            run_id=run.id,
            run_name=run.name,
            step=checkpoint.step,
            who=wanted.who or None,
            why=wanted.why,
        )
    )
    session.flush()
    _announce(session, run.id)


def _announce(session: Session, run_id: int | None) -> None:
    after_commit(session, lambda: publish("run.files", {"run_id": run_id}))

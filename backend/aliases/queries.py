"""Reads of aliases."""

from collections.abc import Sequence

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from backend.aliases.schemas import Alias, AliasEntry
from backend.database.tables import AliasChange, Checkpoint
from backend.errors import NotFound

MAX_HISTORY = 1_000


def current_changes() -> Select[AliasChange]:
    """Return the query of the newest change of each alias that was not removed."""
    newest = select(func.max(AliasChange.id)).group_by(AliasChange.name)
    return select(AliasChange).where(AliasChange.id.in_(newest), AliasChange.checkpoint_id.is_not(None))


def find_current(session: Session, name: str) -> AliasChange | None:
    """Return the newest change of an alias, or None if there is no such alias."""
    return session.scalar(current_changes().where(AliasChange.name == name))


def list_aliases(session: Session) -> list[Alias]:
    """Return all aliases by name."""
    found = session.scalars(current_changes().order_by(AliasChange.name)).all()
    kept = select(Checkpoint.run_id, Checkpoint.id).where(
        Checkpoint.id.in_([each.checkpoint_id for each in found]), Checkpoint.file_id.is_not(None)
    )
    # With the run, because a database may use the id of a deleted checkpoint again.
    available = {(run_id, checkpoint_id) for run_id, checkpoint_id in session.execute(kept)}
    return [_to_alias(each, available=(each.run_id, each.checkpoint_id) in available) for each in found]


def read_history(session: Session, name: str) -> list[AliasEntry]:
    """Return the changes of an alias, newest first. Raise NotFound if it never existed."""
    query = select(AliasChange).where(AliasChange.name == name).order_by(AliasChange.id.desc())
    found = session.scalars(query.limit(MAX_HISTORY)).all()
    if not found:
        raise NotFound(f"There is no alias {name!r}.")
    return [AliasEntry.model_validate(each) for each in found]


def names_of_checkpoints(session: Session, run_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the aliases of each checkpoint of these runs, by its id."""
    names: dict[int, list[str]] = {}
    for change in session.scalars(current_changes().where(AliasChange.run_id.in_(run_ids)).order_by(AliasChange.name)):
        names.setdefault(change.checkpoint_id or 0, []).append(change.name)
    return names


def _to_alias(change: AliasChange, *, available: bool) -> Alias:
    return Alias(**AliasEntry.model_validate(change).model_dump(), available=available)

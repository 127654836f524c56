"""Aliases: names of checkpoints, such as pong/champion, with their history."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import AliasChange, Checkpoint, Run, is_editable
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound, with_rule
from arcadia_backend.files.service import announce_files
from arcadia_backend.projects.schemas import MayEdit
from arcadia_backend.projects.service import require_editor
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.values import STORABLE, Id

MAX_NAME = 100
# A number would be an id of a checkpoint, so the first character is a letter.
NAME_PATTERN = with_rule(
    r"^[a-z][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*){0,3}$",
    "use lower-case letters, digits, dots, hyphens and underscores, in up to four parts such as pong/champion",
)
RESERVED = ("newest", "best")

AliasName = Annotated[
    str,
    StringConstraints(max_length=MAX_NAME, pattern=NAME_PATTERN),
    Field(description="Name, such as pong/champion: lower-case letters, digits and .-_ in up to four parts."),
]


def is_name(text: str) -> bool:
    """Return True if an alias can have this name."""
    return re.fullmatch(NAME_PATTERN, text) is not None and text not in RESERVED


Who = Annotated[str, StringConstraints(strip_whitespace=True, max_length=100), STORABLE]
Why = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000), STORABLE]


class SetAlias(BaseModel):
    """An alias and the checkpoint that it should point to."""

    model_config = ConfigDict(extra="forbid")

    name: AliasName
    checkpoint_id: Id
    who: Who | None = Field(
        default=None, description="Who changed it, for the history. Default: the address and kind of the client."
    )
    why: Why = Field(default="", description="Why it was changed, for the history.")


class AliasEntry(BaseModel):
    """A change of an alias."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    run_id: int | None
    run_name: str | None
    checkpoint_id: int | None = Field(description="Null if the alias was removed.")
    step: int | None
    who: str | None
    why: str
    changed_at: datetime


class Alias(AliasEntry):
    """An alias with its latest change."""

    available: bool = Field(description="Whether the checkpoint still has its file.")
    may_edit: MayEdit


MAX_HISTORY = 1_000


def current_changes() -> Select[AliasChange]:
    """Return the query of the newest change of each alias that was not removed."""
    newest = select(func.max(AliasChange.id)).group_by(AliasChange.name)
    return select(AliasChange).where(AliasChange.id.in_(newest), AliasChange.checkpoint_id.is_not(None))


def find_current(session: Session, name: str) -> AliasChange | None:
    """Return the newest change of an alias, or None if there is no such alias."""
    return session.scalar(current_changes().where(AliasChange.name == name))


def load_aliases(session: Session) -> list[Alias]:
    """Return all aliases by name."""
    changes = session.scalars(current_changes().order_by(AliasChange.name)).all()
    kept = select(Checkpoint.run_id, Checkpoint.id).where(
        Checkpoint.id.in_([change.checkpoint_id for change in changes]), Checkpoint.file_id.is_not(None)
    )
    of_runs = select(Run.id, Run.project_id).where(Run.id.in_([change.run_id for change in changes]))
    projects: dict[int | None, int] = dict(session.execute(of_runs).all())
    # With the run, because a database may use the id of a deleted checkpoint again.
    available = {(run_id, checkpoint_id) for run_id, checkpoint_id in session.execute(kept)}
    return [
        Alias(
            **AliasEntry.model_validate(change).model_dump(),
            available=(change.run_id, change.checkpoint_id) in available,
            may_edit=is_editable(projects.get(change.run_id)),
        )
        for change in changes
    ]


def read_history(session: Session, name: str) -> list[AliasEntry]:
    """Return the changes of an alias, newest first. Raise NotFound if it never existed."""
    query = select(AliasChange).where(AliasChange.name == name).order_by(AliasChange.id.desc())
    changes = session.scalars(query.limit(MAX_HISTORY)).all()
    if not changes:
        raise NotFound(f"There is no alias {name!r}.")
    return [AliasEntry.model_validate(each) for each in changes]


def names_of_checkpoints(session: Session, run_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the aliases of each checkpoint of these runs, by its id."""
    names: dict[int, list[str]] = {}
    for change in session.scalars(current_changes().where(AliasChange.run_id.in_(run_ids)).order_by(AliasChange.name)):
        names.setdefault(change.checkpoint_id or 0, []).append(change.name)
    return names


MAX_ALIASES = 1_000


def assign_alias(session: Session, wanted: SetAlias) -> None:
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
    if before is not None and before.run_id is not None:
        # It leaves the checkpoint that it names now.
        require_editor(session, "runs", before.run_id)
    if before is None and _count(session) >= MAX_ALIASES:
        raise Conflict(f"There are {MAX_ALIASES} aliases, which is the limit. Remove one first.")
    _add(session, wanted, checkpoint, run)
    if before is not None:
        announce_files(session, before.run_id)


def delete_alias(session: Session, name: str, who: str | None, why: str) -> None:
    """Remove an alias. Its history stays. Raise NotFound if there is none."""
    before = find_current(session, name)
    if before is None:
        raise NotFound(f"There is no alias {name!r}.")
    removed = {"run_id": before.run_id, "run_name": before.run_name, "step": before.step}
    session.add(AliasChange(name=name, who=who, why=why, **removed))
    session.flush()
    announce_files(session, before.run_id)


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
    announce_files(session, run.id)


router = APIRouter(tags=["aliases"])

Name = Annotated[AliasName, Query()]


@router.get("/aliases")
def list_aliases(db: Db) -> list[Alias]:
    """List all aliases with the checkpoints that they name."""
    with db.read() as session:
        return load_aliases(session)


@router.put("/aliases")
def set_alias(db: Db, wanted: SetAlias) -> list[AliasEntry]:
    """Point an alias to a checkpoint. Return the history of the alias, newest first."""
    with db.write() as session:
        assign_alias(session, wanted.model_copy(update={"who": wanted.who or current().caller}))
        return read_history(session, wanted.name)


@router.delete("/aliases", status_code=204)
def remove_alias(db: Db, name: Name, who: Who | None = None, why: Why = "") -> Response:
    """Remove an alias. Its history and its checkpoint stay."""
    with db.write() as session:
        delete_alias(session, name, who or current().caller, why)
    return Response(status_code=204)


@router.get("/aliases/history")
def read_alias_history(db: Db, name: Name) -> list[AliasEntry]:
    """Return the history of an alias, newest first."""
    with db.read() as session:
        return read_history(session, name)

"""/aliases: list, set and remove names of checkpoints, and read their history."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend.aliases import queries, service
from backend.aliases.schemas import Alias, AliasEntry, AliasName, SetAlias, Who, Why
from backend.database.engine import Db
from backend.web.caller import Caller

router = APIRouter(tags=["aliases"])

Name = Annotated[AliasName, Query()]


@router.get("/aliases")
def list_aliases(db: Db) -> list[Alias]:
    """List all aliases with the checkpoints that they name."""
    with db.read() as session:
        return queries.list_aliases(session)


@router.put("/aliases")
def set_alias(db: Db, caller: Caller, wanted: SetAlias) -> list[AliasEntry]:
    """Point an alias to a checkpoint. Return the history of the alias, newest first."""
    with db.write() as session:
        service.set_alias(session, wanted.model_copy(update={"who": wanted.who or caller}))
        return queries.read_history(session, wanted.name)


@router.delete("/aliases", status_code=204)
def remove_alias(db: Db, caller: Caller, name: Name, who: Who | None = None, why: Why = "") -> Response:
    """Remove an alias. Its history and its checkpoint stay."""
    with db.write() as session:
        service.remove_alias(session, name, who or caller, why)
    return Response(status_code=204)


@router.get("/aliases/history")
def read_alias_history(db: Db, name: Name) -> list[AliasEntry]:
    """Return the history of an alias, newest first."""
    with db.read() as session:
        return queries.read_history(session, name)

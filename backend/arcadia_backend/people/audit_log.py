"""/audit: the audit log with filters, and its export. Administrators of a project see the entries of the project."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from sqlalchemy import ColumnElement, Select, false, select

from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import Role, current
from arcadia_backend.people import schemas
from arcadia_workers.contract.values import STORABLE, Id

router = APIRouter(tags=["audit"])

MAX_ENTRIES = 200
EXPORT_BATCH = 1_000
Word = Annotated[str, Query(max_length=32), STORABLE]
Before = Annotated[Id | None, Query(description="Only entries with smaller ids, which are older.")]


def read_filters(
    person_id: Annotated[Id | None, Query()] = None,
    project_id: Annotated[Id | None, Query()] = None,
    kind: Annotated[Word | None, Query(description="Kind of object, such as run.")] = None,
    action: Annotated[Word | None, Query(description="Verb, such as delete.")] = None,
    object_id: Annotated[str | None, Query(max_length=100), STORABLE] = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[ColumnElement[bool]]:
    """Return the conditions for the entries that the caller may see and asks for."""
    entry = tables.AuditEntry
    equal = (
        (entry.person_id, person_id),
        (entry.project_id, project_id),
        (entry.kind, kind),
        (entry.action, action),
        (entry.object_id, object_id),
    )
    conditions: list[ColumnElement[bool]] = [column == value for column, value in equal if value is not None]
    if since is not None:
        conditions.append(entry.at >= since)
    if until is not None:
        conditions.append(entry.at < until)
    return [*conditions, *_visible()]


def _visible() -> list[ColumnElement[bool]]:
    """Return the condition for entries that the caller may see."""
    scope = current()
    if scope.everything:
        return []
    projects = scope.projects_as(Role.ADMINISTRATOR)
    return [tables.AuditEntry.project_id.in_(projects) if projects else false()]


Filters = Annotated[list[ColumnElement[bool]], Depends(read_filters)]


def _newest(filters: list[ColumnElement[bool]], before: int | None, limit: int) -> Select[tables.AuditEntry]:
    entry = tables.AuditEntry
    older = (entry.id < before,) if before is not None else ()
    return select(entry).where(*filters, *older).order_by(entry.id.desc()).limit(limit)


@router.get("/audit")
def list_audit(
    db: Db, filters: Filters, before: Before = None, limit: Annotated[int, Query(ge=1, le=MAX_ENTRIES)] = 50
) -> schemas.AuditPage:
    """Return entries of the audit log, newest first."""
    with db.read() as session:
        rows = session.scalars(_newest(filters, before, limit + 1)).all()
    items = [schemas.AuditEntry.model_validate(row) for row in rows[:limit]]
    return schemas.AuditPage(items=items, next_before=items[-1].id if len(rows) > limit else None)


@router.get("/audit/facets")
def read_audit_facets(db: Db) -> schemas.AuditFacets:
    """Return the kinds, actions, people and projects of the entries that you may see."""
    entry, person, project = tables.AuditEntry, tables.Person, tables.Project
    with db.read() as session:

        def values(column: Any) -> Sequence[Any]:
            return session.scalars(select(column).where(column.is_not(None), *_visible()).distinct()).all()

        people = session.scalars(select(person).where(person.id.in_(values(entry.person_id))).order_by(person.name))
        ids = values(entry.project_id)
        recorded = select(entry.project_id, entry.object_name).where(entry.kind == "project", entry.project_id.in_(ids))
        names = dict(session.execute(recorded.order_by(entry.id)).all())
        names |= dict(session.execute(select(project.id, project.name).where(project.id.in_(ids))).all())
        is_administrator = current().everything
        return schemas.AuditFacets(
            kinds=sorted(values(entry.kind)),
            actions=sorted(values(entry.action)),
            people=[
                schemas.AuditedPerson(id=each.id, name=each.name, email=each.email if is_administrator else None)
                for each in people
            ],
            projects=[schemas.AuditedProject(id=number, name=names.get(number, "")) for number in sorted(ids)],
        )


@router.get("/audit/export", response_class=StreamingResponse)
def export_audit(db: Db, filters: Filters) -> StreamingResponse:
    """Return all matching entries as JSON Lines, newest first."""

    def lines() -> Iterator[str]:
        before: int | None = None
        while True:
            with db.read() as session:
                rows = session.scalars(_newest(filters, before, EXPORT_BATCH)).all()
            for row in rows:
                yield schemas.AuditEntry.model_validate(row).model_dump_json() + "\n"
            if len(rows) < EXPORT_BATCH:
                return
            before = rows[-1].id

    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(lines(), media_type="application/jsonl", headers=headers)

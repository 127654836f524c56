"""Saved views of the runs page."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import name_key
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.projects.schemas import MayEdit, ProjectName, Projects
from arcadia_backend.projects.service import flush_name, in_projects, resolve
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract.values import STORABLE

ViewName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
ViewQuery = Annotated[
    str,
    Field(
        max_length=10_000,
        description="Query of the runs page: filters, columns, order, groups, baseline and charts. "
        "For example env=ALE/Pong-v5&sort=-best_return.",
    ),
    STORABLE,
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateView(_Request):
    """A view to save."""

    name: ViewName
    query: ViewQuery = ""
    project: ProjectName | None = Field(default=None, description="Name of an existing project. Default: Main.")


class EditView(_Request):
    """Changes to a view. Omitted fields stay unchanged."""

    name: ViewName | None = None
    query: ViewQuery | None = None


class SavedView(BaseModel):
    """A named view of the runs of a project."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    project: str
    name: str
    query: str = Field(description="Query of the runs page.")
    created_at: datetime
    updated_at: datetime
    may_edit: MayEdit


def load_views(session: Session, projects: Sequence[str]) -> list[SavedView]:
    """Return the views of these projects, or of all, by name."""
    query = select(tables.SavedView).where(*in_projects(tables.SavedView.project_id, projects))
    views = session.scalars(query.order_by(tables.SavedView.name_key, tables.SavedView.id))
    return [to_schema(view) for view in views]


def find_view(session: Session, view_id: int, *, lock: bool = False) -> tables.SavedView:
    """Return a view, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist."""
    view = session.get(tables.SavedView, view_id, with_for_update=True if lock else None)
    if view is None:
        raise NotFound(f"There is no view {view_id}.")
    return view


def to_schema(view: tables.SavedView) -> SavedView:
    """Return a view as the API shows it."""
    return SavedView.model_validate(view)


MAX_VIEWS = 200
_TAKEN = "The project already has a view {!r}. Names differ in more than case."


def create(session: Session, new: CreateView) -> tables.SavedView:
    """Save a view. Raise Conflict if the project has one with this name."""
    project_id = resolve(session, new.project)
    count = (
        session.scalar(
            select(func.count()).select_from(tables.SavedView).where(tables.SavedView.project_id == project_id)
        )
        or 0
    )
    if count >= MAX_VIEWS:
        raise Conflict(f"The project has {MAX_VIEWS} views, which is the limit. Delete one first.")
    view = tables.SavedView(project_id=project_id, name=new.name, name_key=name_key(new.name), query=new.query)
    session.add(view)
    flush_name(session, _TAKEN.format(new.name))
    session.refresh(view, ["project"])
    return view


def edit(session: Session, view: tables.SavedView, changes: EditView) -> None:
    """Change the name or the query. Raise Conflict if another view has the name."""
    if changes.name is not None:
        view.name, view.name_key = changes.name, name_key(changes.name)
    if changes.query is not None:
        view.query = changes.query
    view.updated_at = utc_now()
    flush_name(session, _TAKEN.format(view.name))


router = APIRouter(tags=["views"])


@router.get("/views")
def list_views(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> list[SavedView]:
    """Return all saved views, or those of some projects, by name."""
    with db.read() as session:
        return load_views(session, project)


@router.post("/views", status_code=201)
def create_view(db: Db, once: Idempotent, new: CreateView) -> SavedView:
    """Save a view. Fail with 409 if the project has one with this name in upper or lower case."""
    with once.write(db) as session:
        return once.store(session, to_schema(create(session, new)))


@router.get("/views/{view_id}")
def read_view(db: Db, view_id: PathId) -> SavedView:
    """Return a view."""
    with db.read() as session:
        return to_schema(find_view(session, view_id))


@router.patch("/views/{view_id}")
def edit_view(db: Db, view_id: PathId, changes: EditView) -> SavedView:
    """Change the name or the query of a view."""
    with db.write() as session:
        view = find_view(session, view_id, lock=True)
        edit(session, view, changes)
        return to_schema(view)


@router.delete("/views/{view_id}", status_code=204)
def delete_view(db: Db, view_id: PathId) -> Response:
    """Delete a view. The runs stay."""
    with db.write() as session:
        session.delete(find_view(session, view_id, lock=True))
    return Response(status_code=204)

"""Lookup of views, and the schema of the API."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database import tables
from backend.errors import NotFound
from backend.projects.lookup import in_projects
from backend.views import schemas


def list_views(session: Session, projects: Sequence[str]) -> list[schemas.SavedView]:
    """Return the views of these projects, or of all, by name."""
    query = select(tables.SavedView).where(*in_projects(tables.SavedView.project_id, projects))
    found = session.scalars(query.order_by(tables.SavedView.name_key, tables.SavedView.id))
    return [to_schema(view) for view in found]


def find_view(session: Session, view_id: int, *, lock: bool = False) -> tables.SavedView:
    """Return a view, locked until the transaction ends if `lock` is True. Raise NotFound if it does not exist."""
    view = session.get(tables.SavedView, view_id, with_for_update=True if lock else None)
    if view is None:
        raise NotFound(f"There is no view {view_id}.")
    return view


def to_schema(view: tables.SavedView) -> schemas.SavedView:
    """Return a view as the API shows it."""
    return schemas.SavedView.model_validate(view)

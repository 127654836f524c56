"""Operations on views. Every function works inside the caller's transaction."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import SavedView, name_key
from backend.errors import Conflict
from backend.projects.lookup import flush_name, resolve
from backend.views.schemas import CreateView, EditView

MAX_VIEWS = 200
_TAKEN = "The project already has a view {!r}. Names differ in more than case."


def create(session: Session, new: CreateView) -> SavedView:
    """Save a view. Raise Conflict if the project has one with this name."""
    project_id = resolve(session, new.project)
    count = session.scalar(select(func.count()).select_from(SavedView).where(SavedView.project_id == project_id)) or 0
    if count >= MAX_VIEWS:
        raise Conflict(f"The project has {MAX_VIEWS} views, which is the limit. Delete one first.")
    view = SavedView(project_id=project_id, name=new.name, name_key=name_key(new.name), query=new.query)
    session.add(view)
    flush_name(session, _TAKEN.format(new.name))
    session.refresh(view, ["project"])
    return view


def edit(session: Session, view: SavedView, changes: EditView) -> None:
    """Change the name or the query. Raise Conflict if another view has the name."""
    if changes.name is not None:
        view.name, view.name_key = changes.name, name_key(changes.name)
    if changes.query is not None:
        view.query = changes.query
    view.updated_at = utc_now()
    flush_name(session, _TAKEN.format(view.name))

"""/views: list, save, edit and delete views of the runs page."""

from fastapi import APIRouter, Response

from backend.database.engine import Db
from backend.projects.lookup import Projects
from backend.views import queries, schemas, service
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId

router = APIRouter(tags=["views"])


@router.get("/views")
def list_views(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> list[schemas.SavedView]:
    """Return all saved views, or those of some projects, by name."""
    with db.read() as session:
        return queries.list_views(session, project)


@router.post("/views", status_code=201)
def create_view(db: Db, once: Idempotent, new: schemas.CreateView) -> schemas.SavedView:
    """Save a view. Fail with 409 if the project has one with this name in upper or lower case."""
    with once.write(db) as session:
        return once.store(session, queries.to_schema(service.create(session, new)))


@router.get("/views/{view_id}")
def read_view(db: Db, view_id: PathId) -> schemas.SavedView:
    """Return a view."""
    with db.read() as session:
        return queries.to_schema(queries.find_view(session, view_id))


@router.patch("/views/{view_id}")
def edit_view(db: Db, view_id: PathId, changes: schemas.EditView) -> schemas.SavedView:
    """Change the name or the query of a view."""
    with db.write() as session:
        view = queries.find_view(session, view_id, lock=True)
        service.edit(session, view, changes)
        return queries.to_schema(view)


@router.delete("/views/{view_id}", status_code=204)
def delete_view(db: Db, view_id: PathId) -> Response:
    """Delete a view. The runs stay."""
    with db.write() as session:
        session.delete(queries.find_view(session, view_id, lock=True))
    return Response(status_code=204)

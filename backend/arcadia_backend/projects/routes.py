"""/projects: list, create, read, edit, merge and delete projects, and move items into one."""

from fastapi import APIRouter, Response

from arcadia_backend.database.engine import Db
from arcadia_backend.projects import merging, schemas, service
from arcadia_backend.projects.queries import load_projects, to_schema
from arcadia_backend.projects.service import find_project
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId

router = APIRouter(tags=["projects"])


@router.get("/projects")
def list_projects(db: Db) -> list[schemas.ProjectSummary]:
    """Return all projects with their numbers of runs, studies and reports. Main comes first."""
    with db.read() as session:
        return load_projects(session)


@router.post("/projects", status_code=201)
def create_project(db: Db, once: Idempotent, new: schemas.CreateProject) -> schemas.Project:
    """Create a project. Fail with 409 if there is one with this name in upper or lower case."""
    with once.write(db) as session:
        return once.store(session, to_schema(session, service.create(session, new)))


@router.get("/projects/{project_id}")
def read_project(db: Db, project_id: PathId) -> schemas.Project:
    """Return a project with its text, its pinned report and its best agents."""
    with db.read() as session:
        return to_schema(session, find_project(session, project_id))


@router.patch("/projects/{project_id}")
def edit_project(db: Db, project_id: PathId, changes: schemas.EditProject) -> schemas.Project:
    """Change the name, the text, the pinned report or the default executor of a project."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        service.edit(session, project, changes)
        return to_schema(session, project)


@router.delete("/projects/{project_id}", status_code=204)
def delete_project(db: Db, project_id: PathId) -> Response:
    """Delete a project without runs, studies and reports."""
    with db.write() as session:
        service.delete(session, find_project(session, project_id, lock=True))
    return Response(status_code=204)


@router.post("/projects/{project_id}/merge")
def merge_project(db: Db, project_id: PathId, merge: schemas.MergeProject) -> schemas.Project:
    """Move everything of a project into another one, and delete it. Return the other one."""
    with db.write() as session:
        # `merge` locks both projects in its own order.
        target = merging.merge(session, find_project(session, project_id), merge.into)
        return to_schema(session, target)


@router.post("/projects/{project_id}/items")
def move_items(db: Db, project_id: PathId, items: schemas.MoveItems) -> schemas.MovedItems:
    """Move runs, studies and reports into a project. A study brings its runs."""
    with db.write() as session:
        return service.move(session, find_project(session, project_id), items)

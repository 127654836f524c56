"""/projects/{project_id}/board: read and save the board of a project, and read one of its panels."""

from fastapi import APIRouter

from backend.boards import queries, schemas, service
from backend.database.engine import Db
from backend.projects.lookup import find_project
from backend.web.lookup import PathId

router = APIRouter(tags=["projects"])


@router.get("/projects/{project_id}/board")
def read_board(db: Db, project_id: PathId) -> schemas.Board:
    """Return the board of a project. Every project has one."""
    with db.read() as session:
        return queries.read_board(session, find_project(session, project_id))


@router.put("/projects/{project_id}/board")
def save_board(db: Db, project_id: PathId, saved: schemas.SaveBoard) -> schemas.Board:
    """Replace the panels of a board. Fail with 409 if the board has changed since the client read it."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        service.save(session, project, saved)
        return queries.read_board(session, project)


@router.get("/projects/{project_id}/board/panels/{panel_key}")
def read_panel(db: Db, project_id: PathId, panel_key: schemas.PanelKey) -> schemas.EmbeddedPanel:
    """Return a panel of a board, for example to embed it. It is found even if the project was merged into another."""
    with db.read() as session:
        return queries.find_panel(session, project_id, panel_key)

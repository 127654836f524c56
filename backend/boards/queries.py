"""Reads of boards."""

from sqlalchemy.orm import Session

from backend.boards import schemas
from backend.database.tables import Board, MovedPanel, Project
from backend.errors import NotFound
from backend.projects.lookup import find_project


def read_board(session: Session, project: Project) -> schemas.Board:
    """Return the board of a project. It is empty until it is saved."""
    board = session.get(Board, project.id)
    return schemas.Board(
        project_id=project.id,
        project=project.name,
        panels=[schemas.BoardPanel.model_validate(panel) for panel in board.panels] if board else [],
        version=board.version if board else 0,
        updated_at=board.updated_at if board else None,
    )


def find_panel(session: Session, project_id: int, key: str) -> schemas.EmbeddedPanel:
    """Return a panel, also if its project was merged into another one. Raise NotFound if it does not exist."""
    if moved := session.get(MovedPanel, (project_id, key)):
        project_id, key = moved.into_id, moved.into_key
    board = read_board(session, find_project(session, project_id))
    panel = next((each for each in board.panels if each.key == key), None)
    if panel is None:
        raise NotFound(f"The board of {board.project} has no chart {key!r}. Copy the embed code of another one.")
    return schemas.EmbeddedPanel(project_id=board.project_id, project=board.project, panel=panel)

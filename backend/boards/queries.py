"""Reads of boards."""

from sqlalchemy.orm import Session

from backend.boards import schemas
from backend.database.tables import Board, Project


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

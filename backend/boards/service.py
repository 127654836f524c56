"""Changes of boards. Every function works inside the caller's transaction."""

from sqlalchemy.orm import Session

from backend.boards.schemas import SaveBoard
from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Board, Project
from backend.errors import Conflict
from backend.live.notices import publish


def save(session: Session, project: Project, saved: SaveBoard) -> None:
    """Replace the panels. Raise Conflict if the board has changed since the client read it. The project is locked."""
    board = session.get(Board, project.id, populate_existing=True)
    version = board.version if board else 0
    if saved.version != version:
        raise Conflict(
            f"The board has changed: it is now at version {version}, but yours is based on version {saved.version}. "
            "Reload it and apply your changes again."
        )
    if board is None:
        board = Board(project_id=project.id)
        session.add(board)
    board.panels = [panel.model_dump(mode="json") for panel in saved.panels]
    board.version = version + 1
    board.updated_at = utc_now()
    session.flush()
    notice = {"project_id": project.id}
    after_commit(session, lambda: publish("board.changed", notice))

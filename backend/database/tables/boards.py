"""Tables of boards."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id

MAX_PANELS = 50
MAX_PANEL_KEY = 32


class Board(Base):
    """The charts on the board of a project."""

    __tablename__ = "boards"

    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    # As boards.schemas.BoardPanel.
    panels: Mapped[list[dict[str, Any]]]
    # Increases with each change, so that a page with an older version cannot overwrite it.
    version: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


class MovedPanel(Base):
    """The new place of a panel whose project was merged into another one, so that its embeds still find it."""

    __tablename__ = "moved_panels"

    # The merged project, which is deleted. Ids are not used again.
    project_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(String(MAX_PANEL_KEY), primary_key=True)
    into_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    into_key: Mapped[str] = mapped_column(String(MAX_PANEL_KEY))

"""Table of reports."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id
from backend.database.tables.projects import MAIN_ID, Project


class Report(Base):
    """A page of text, charts, tables and replays."""

    __tablename__ = "reports"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id"), default=MAIN_ID, index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    # As reports.blocks.Block.
    blocks: Mapped[list[dict[str, Any]]]
    # Increases with each change, so that a page with an older version cannot overwrite it.
    version: Mapped[int] = mapped_column(default=1)
    # Opens the report without a session, if set.
    share_token: Mapped[str | None] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)

"""Table of saved views."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id
from backend.database.tables.projects import Project


class SavedView(Base):
    """A named view of the runs of a project. Its name is unique in the project, without regard to case."""

    __tablename__ = "views"
    __table_args__ = (UniqueConstraint("project_id", "name_key"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"))
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    name: Mapped[str] = mapped_column(String(100))
    # Folding may make a text three times as long.
    name_key: Mapped[str] = mapped_column(String(300))
    # The query of the runs page.
    query: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)

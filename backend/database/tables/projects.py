"""Table of projects."""

from datetime import datetime

from sqlalchemy import BigInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id

# The project of everything that names no other. Its migration inserts it first.
MAIN, MAIN_ID = "Main", 1


def name_key(name: str) -> str:
    """Return the form of a project's name that must be unique. Databases fold letters differently."""
    return name.casefold()


class Project(Base):
    """A project. Every run, study and report belongs to exactly one."""

    __tablename__ = "projects"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    # Folding may make a text three times as long.
    name_key: Mapped[str] = mapped_column(String(300), unique=True)
    # Markdown.
    text: Mapped[str] = mapped_column(Text, default="")
    # The report may be deleted, so this is not a foreign key.
    pinned_report_id: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

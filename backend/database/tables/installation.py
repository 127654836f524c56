"""Table that identifies this installation."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base


class Installation(Base):
    """The identity of this installation, in a single row. Its files folder has the same identity."""

    __tablename__ = "installation"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    identity: Mapped[str] = mapped_column(String(32))

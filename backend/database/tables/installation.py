"""Table that identifies this installation."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base


class Installation(Base):
    """The one row names this installation; its files/ folder bears the same name."""

    __tablename__ = "installation"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    identity: Mapped[str] = mapped_column(String(32))

"""Table of aliases of checkpoints."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id


class AliasChange(Base):
    """A change of an alias, such as pong/champion. The newest one of a name says which checkpoint it names now.

    The history outlives runs and checkpoints, so these are not foreign keys.
    """

    __tablename__ = "alias_changes"
    __table_args__ = (Index("ix_alias_changes_name_id", "name", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    # Empty if the alias was removed.
    checkpoint_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    run_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    # Copies, for the history of deleted runs.
    run_name: Mapped[str | None] = mapped_column(String(200))
    step: Mapped[int | None] = mapped_column(BigInteger)
    who: Mapped[str | None] = mapped_column(String(100))
    why: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime] = mapped_column(default=utc_now)

"""Table of start point sets."""

from datetime import datetime

from sqlalchemy import BigInteger, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id
from workers.contract.protocols.protocol import StartPlayer


class StartSet(Base):
    """A named set of start points of a game."""

    __tablename__ = "start_sets"
    __table_args__ = (UniqueConstraint("env", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    env: Mapped[str] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(100))
    player: Mapped[StartPlayer]
    source: Mapped[str] = mapped_column(Text)
    emulator: Mapped[str] = mapped_column(String(100))
    points: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    bytes: Mapped[int] = mapped_column(BigInteger)
    # contract.protocols.StartSetFile as JSON. It may be megabytes, so it is loaded only on request.
    content: Mapped[str] = mapped_column(Text, deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

"""Table of futures."""

from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base, Id


class Futures(Base):
    """Futures of a decision of a replay. They have a result when their job is done."""

    __tablename__ = "futures"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    replay_id: Mapped[int] = mapped_column(ForeignKey("replays.id", ondelete="CASCADE"), index=True)
    # A job of the run whose agent acts, which may be another one than that of the replay.
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    # As contract.futures.FuturesOptions and FuturesDocument.
    options: Mapped[dict[str, Any]]
    document: Mapped[dict[str, Any] | None]

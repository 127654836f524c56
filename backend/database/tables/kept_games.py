"""Table of kept games."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, GameEnd, Id


class KeptGame(Base):
    """A game that a person played, from its start or from a decision of a replay: its actions, and its video's job."""

    __tablename__ = "kept_games"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    env: Mapped[str] = mapped_column(String(100), index=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    poster_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int]
    score: Mapped[float]
    ended: Mapped[GameEnd]
    emulator: Mapped[str] = mapped_column(String(100))
    start_points: Mapped[int]
    # The replay that it continues, if any. The other columns stay when the replay is deleted.
    replay_id: Mapped[int | None] = mapped_column(ForeignKey("replays.id", ondelete="SET NULL"), index=True)
    decision: Mapped[int | None]
    score_before: Mapped[float | None]
    frames_before: Mapped[int | None]
    # Frames since the decision in which the agent played.
    agent_frames: Mapped[int | None]
    # As in events.GameKept. They are long, so they are loaded only on request.
    actions: Mapped[list[list[Any]]] = mapped_column(deferred=True)
    screens: Mapped[list[list[Any]]] = mapped_column(deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

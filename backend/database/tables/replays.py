"""Table of replays."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id


class Replay(Base):
    """A replay: one episode played from a checkpoint."""

    __tablename__ = "replays"
    __table_args__ = (UniqueConstraint("run_id", "attempt", "file"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    file: Mapped[str] = mapped_column(String(255))
    checkpoint: Mapped[str] = mapped_column(String(255))
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    poster_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    seen_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    track_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    # The job that recorded it. Replays that the trainer recorded have none.
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    # The job that computes its saliency. The saliency file is found by it.
    saliency_job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"), index=True)
    # Protected from pruning.
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    episode_return: Mapped[float]
    length: Mapped[int]
    seconds: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def saliency_asked(self) -> bool:
        """True if its saliency exists or was requested."""
        return self.saliency_job_id is not None

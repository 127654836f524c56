"""Table of checkpoints."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id


class Checkpoint(Base):
    """A saved training state. The first one of a fork is a copy of its parent's, under attempt 0."""

    __tablename__ = "checkpoints"
    __table_args__ = (UniqueConstraint("run_id", "attempt", "file"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    file: Mapped[str] = mapped_column(String(255))
    sha256: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    # Empty after pruning deleted the file.
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    return_mean: Mapped[float | None]
    best: Mapped[bool] = mapped_column(default=False)
    # Protected from pruning.
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    # The run's schedule requested an evaluation, which may have been deleted since.
    scheduled: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Of an imported agent: the hash of the checkpoint that it was exported from.
    source_sha256: Mapped[str | None] = mapped_column(String(64), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

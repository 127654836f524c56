"""Table of the media that reported runs log."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base, Id, MediaKind


class Media(Base):
    """An image, a video, a histogram or a table that a run logged at a step."""

    __tablename__ = "media"
    __table_args__ = (Index("ix_media_listed", "run_id", "name", "step", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    name: Mapped[str] = mapped_column(String(200))
    kind: Mapped[MediaKind]
    step: Mapped[int] = mapped_column(BigInteger)
    time: Mapped[datetime]
    # Of images and videos.
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="CASCADE"), index=True)
    # Of histograms and tables.
    data: Mapped[dict[str, Any] | None]
    caption: Mapped[str | None] = mapped_column(Text)

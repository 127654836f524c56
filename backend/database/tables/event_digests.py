"""Table of the digests of stored events."""

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.tables.base import Base, Id


class EventDigests(Base):
    """Digests of successive events of one attempt at a run or at a job, 8 bytes each.

    Several rows may have the same numbers, because events that differ under one number are all stored.
    """

    __tablename__ = "event_digests"
    __table_args__ = (
        Index("ix_event_digests_run", "run_id", "attempt", "last_seq"),
        Index("ix_event_digests_job", "job_id", "attempt", "last_seq"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    first_seq: Mapped[int]
    last_seq: Mapped[int]
    digests: Mapped[bytes] = mapped_column(LargeBinary)

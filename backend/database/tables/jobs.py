"""Table of jobs."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id
from workers.contract.worker_api import JobDesired, JobKind, JobState, Outcome


class Job(Base):
    """A short task that a worker does beside its training, for a run or for a person who plays."""

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_waiting", "state", "created_at"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[JobKind]
    # A job for a person who plays has no run and no checkpoint.
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    # No foreign key: files refer to jobs and checkpoints to files, so the tables would form a cycle.
    checkpoint_id: Mapped[int | None] = mapped_column(BigInteger)
    parameters: Mapped[dict[str, Any]]
    # Names of plug-ins, separated by commas.
    needed_plugins: Mapped[str] = mapped_column(String(500), default="", server_default="")

    state: Mapped[JobState] = mapped_column(default="queued")
    desired: Mapped[JobDesired] = mapped_column(default="run")
    # A sentence: why it is queued again or has failed, or a warning of its process.
    message: Mapped[str | None] = mapped_column(Text)
    traceback: Mapped[str | None] = mapped_column(Text)
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int] = mapped_column(BigInteger)

    attempt: Mapped[int] = mapped_column(default=0)
    last_seq: Mapped[int] = mapped_column(default=0)
    # How the process of this attempt reported that it ended.
    outcome: Mapped[Outcome | None]
    worker: Mapped[str | None] = mapped_column(String(100))
    # Kept after its worker fell silent, until the next claim, since that worker may still continue.
    lease_expires_at: Mapped[datetime | None]
    # How often it was queued again after it lost its worker or its process.
    requeues: Mapped[int] = mapped_column("tries", default=0)

    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    def require_run_id(self) -> int:
        """Return the id of the job's run. Raise ValueError if it has none, such as a job for a person who plays."""
        if self.run_id is None:
            raise ValueError(f"Job {self.id} ({self.kind}) belongs to no run")
        return self.run_id

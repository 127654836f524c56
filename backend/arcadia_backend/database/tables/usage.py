"""Tables of the use of workers and schedulers, which stays when runs and jobs are deleted, and of its caps."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base, Id, unique_where


class Usage(Base):
    """The time for which one attempt at a run or a job, or one start of a scheduler's job, held cores and GPUs.

    Runs, studies and projects may be deleted, so these are not foreign keys.
    """

    __tablename__ = "usage"
    __table_args__ = (
        unique_where("uq_usage_run", "run_id", "attempt", where="job_id IS NULL AND submission_id IS NULL"),
        unique_where("uq_usage_job", "job_id", "attempt", where="job_id IS NOT NULL"),
        unique_where("uq_usage_submission", "submission_id", "started_at", where="submission_id IS NOT NULL"),
        Index("ix_usage_project_id_started_at", "project_id", "started_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Those of the start, also if the run is moved later.
    project_id: Mapped[int] = mapped_column(BigInteger)
    person_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    study_id: Mapped[int | None] = mapped_column(BigInteger)
    # "training", or the kind of the job.
    kind: Mapped[str] = mapped_column(String(16))
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    job_id: Mapped[int | None] = mapped_column(BigInteger)
    submission_id: Mapped[int | None] = mapped_column(BigInteger)
    attempt: Mapped[int]
    # "workers", or a scheduler.
    executor: Mapped[str] = mapped_column(String(16))
    host: Mapped[str | None] = mapped_column(String(255))
    cores: Mapped[float]
    gpus: Mapped[float]
    started_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
    # Null while it runs.
    ended_at: Mapped[datetime | None]


class Cap(Base):
    """What one person or one project may use. Null is no limit."""

    __tablename__ = "caps"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), unique=True)
    project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), unique=True)
    # Runs that train at once.
    max_runs: Mapped[int | None]
    # In a month, in UTC.
    core_hours: Mapped[float | None]
    gpu_hours: Mapped[float | None]

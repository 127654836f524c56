"""Tables of executors: their settings, the submissions of runs to schedulers, and their workers for jobs."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base, Id, SubmissionState


class ExecutorSettings(Base):
    """Settings of a scheduler. Runs can choose it only while it has settings."""

    __tablename__ = "executor_settings"

    executor: Mapped[str] = mapped_column(String(16), primary_key=True)
    settings: Mapped[dict[str, Any]]


class RunSubmission(Base):
    """One job of a scheduler for a run. It is stored before the job is submitted. A run has at most one open one.

    Its attempt is greater than that of each earlier claim and submission, so it identifies the submission. Claims of
    an earlier submission's job are refused.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("run_id", "attempt"),
        Index("ix_submissions_state", "state"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    executor: Mapped[str] = mapped_column(String(16))
    # The mark of the job array, and the number of this job in it. Null if it is not in an array.
    array_mark: Mapped[str | None] = mapped_column(String(200))
    task: Mapped[int | None]
    # The number of the job. Null until the scheduler has confirmed it.
    handle: Mapped[str | None] = mapped_column(String(100))
    state: Mapped[SubmissionState] = mapped_column(default="submitting")
    # In the scheduler's own words.
    scheduler_state: Mapped[str | None] = mapped_column(String(50))
    reason: Mapped[str | None] = mapped_column(Text)
    host: Mapped[str | None] = mapped_column(String(255))
    # The number of jobs that start earlier, plus one. Null if it does not wait.
    place: Mapped[int | None]
    # When it was submitted, or when that was last tried.
    submitted_at: Mapped[datetime] = mapped_column(default=utc_now)
    # Since when the scheduler has not answered, or has not listed the job. Null if it lists the job.
    unknown_since: Mapped[datetime | None]
    # When the job last started, and on how many cores and GPUs.
    started_at: Mapped[datetime | None]
    cores: Mapped[int | None]
    gpus: Mapped[int | None]
    ended_at: Mapped[datetime | None]
    # Of all starts of the job that have ended.
    core_seconds: Mapped[float | None]
    gpu_seconds: Mapped[float | None]


class JobWorker(Base):
    """One job of a scheduler whose worker does jobs, such as evaluations. It is stored before it is submitted."""

    __tablename__ = "job_workers"
    __table_args__ = (Index("ix_job_workers_executor_state", "executor", "state"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    executor: Mapped[str] = mapped_column(String(16))
    # The number of the scheduler's job. Null until the scheduler has confirmed it.
    handle: Mapped[str | None] = mapped_column(String(100))
    state: Mapped[SubmissionState] = mapped_column(default="submitting")
    # In the scheduler's own words.
    scheduler_state: Mapped[str | None] = mapped_column(String(50))
    reason: Mapped[str | None] = mapped_column(Text)
    host: Mapped[str | None] = mapped_column(String(255))
    # Whether its worker has done a job. One that ends without is not replaced at once.
    was_used: Mapped[bool] = mapped_column(default=False)
    # When it was submitted, or when that was last tried.
    submitted_at: Mapped[datetime] = mapped_column(default=utc_now)
    # Since when the scheduler has not answered, or has not listed the job. Null if it lists the job.
    unknown_since: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]

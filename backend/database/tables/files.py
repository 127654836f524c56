"""Table of stored files."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id, StoredKind, unique_where


class File(Base):
    """A stored file. `path` is its path in the worker's directory, `stored_path` the one in the files folder."""

    __tablename__ = "files"
    __table_args__ = (
        unique_where("uq_files_run_id_attempt_path", "run_id", "attempt", "path", where="job_id IS NULL"),
        unique_where("uq_files_job_id_attempt_path", "job_id", "attempt", "path", where="job_id IS NOT NULL"),
        # Equal files of artifacts are stored once.
        unique_where("uq_files_sha256_artifact", "sha256", where="kind = 'artifact'"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Empty if it was made by a job without a run, or belongs to artifacts.
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    # The job that made it, if any. The attempt is then the job's.
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    kind: Mapped[StoredKind]
    path: Mapped[str] = mapped_column(String(255))
    stored_path: Mapped[str] = mapped_column(String(255))
    sha256: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

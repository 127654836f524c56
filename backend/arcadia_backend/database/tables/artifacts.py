"""Tables of files: artifacts and media that scripts log, and the files that they refer to."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import ArtifactRole, Base, Id, InProject, MediaKind, StoredKind, unique_where
from arcadia_backend.database.tables.workspace import Project


class Artifact(InProject, Base):
    """The versions of one name in a project. It is deleted with its last version."""

    __tablename__ = "artifacts"
    __table_args__ = (UniqueConstraint("project_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    name: Mapped[str] = mapped_column(String(128))
    kind: Mapped[str] = mapped_column(String(50))
    # The number of the next version. Numbers of deleted versions are not used again.
    next_version: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ArtifactVersion(Base):
    """Contents of an artifact, which never change."""

    __tablename__ = "artifact_versions"
    __table_args__ = (UniqueConstraint("artifact_id", "version"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    artifact_id: Mapped[int] = mapped_column(ForeignKey("artifacts.id", ondelete="CASCADE"))
    version: Mapped[int]
    # Hash of the paths and contents of all entries.
    digest: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    file_count: Mapped[int]
    # `metadata` is a name of SQLAlchemy's.
    details: Mapped[dict[str, Any]]
    # The run that made it first. The run may be purged, so this is not a foreign key.
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    run_name: Mapped[str | None] = mapped_column(String(200))
    step: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ArtifactEntry(Base):
    """A file of a version, or a reference to a file that is stored elsewhere."""

    __tablename__ = "artifact_entries"

    version_id: Mapped[int] = mapped_column(ForeignKey("artifact_versions.id", ondelete="CASCADE"), primary_key=True)
    path: Mapped[str] = mapped_column(String(500), primary_key=True)
    bytes: Mapped[int] = mapped_column(BigInteger)
    # Several entries with the same content have the same file.
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id"), index=True)
    sha256: Mapped[str | None] = mapped_column(String(64))
    uri: Mapped[str | None] = mapped_column(String(2_000))


class ArtifactAlias(Base):
    """A name of a version, such as best. `latest` has no row, because it is always the newest version."""

    __tablename__ = "artifact_aliases"
    __table_args__ = (Index("ix_artifact_aliases_version_id", "version_id"),)

    artifact_id: Mapped[int] = mapped_column(ForeignKey("artifacts.id", ondelete="CASCADE"), primary_key=True)
    alias: Mapped[str] = mapped_column(String(100), primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("artifact_versions.id", ondelete="CASCADE"))


class ArtifactLink(Base):
    """A run that made a version, or used it."""

    __tablename__ = "artifact_links"
    __table_args__ = (Index("ix_artifact_links_version_id", "version_id"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("artifact_versions.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[ArtifactRole] = mapped_column(primary_key=True)
    linked_at: Mapped[datetime] = mapped_column(default=utc_now)


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

"""Tables of projects, and what people arrange in them: views, boards, reports, studies and imports."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base, Id, InProject, StudyState

# The project of everything that names no other. Its migration inserts it first.
MAIN, MAIN_ID = "Main", 1


def name_key(name: str) -> str:
    """Return the form of a project's name that must be unique. Databases fold letters differently."""
    return name.casefold()


class Project(Base):
    """A project. Every run, study and report belongs to exactly one."""

    __tablename__ = "projects"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    # Folding may make a text three times as long.
    name_key: Mapped[str] = mapped_column(String(300), unique=True)
    # Markdown.
    text: Mapped[str] = mapped_column(Text, default="")
    # The report may be deleted, so this is not a foreign key.
    pinned_report_id: Mapped[int | None] = mapped_column(BigInteger)
    # The role of everyone with an account, as database.scope.Role.
    open_role: Mapped[int | None]
    # Where its runs train by default. Null means as the installation.
    executor: Mapped[str | None] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class SavedView(InProject, Base):
    """A named view of the runs of a project. Its name is unique in the project, without regard to case."""

    __tablename__ = "views"
    __table_args__ = (UniqueConstraint("project_id", "name_key"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"))
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    name: Mapped[str] = mapped_column(String(100))
    # Folding may make a text three times as long.
    name_key: Mapped[str] = mapped_column(String(300))
    # The query of the runs page.
    query: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


MAX_PANELS = 50
MAX_PANEL_KEY = 32


class Board(InProject, Base):
    """The charts on the board of a project."""

    __tablename__ = "boards"

    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    # As boards.schemas.BoardPanel.
    panels: Mapped[list[dict[str, Any]]]
    # Increases with each change, so that a page with an older version cannot overwrite it.
    version: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


class MovedPanel(Base):
    """The new place of a panel whose project was merged into another one, so that its embeds still find it."""

    __tablename__ = "moved_panels"

    # The merged project, which is deleted. Ids are not used again.
    project_id: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(String(MAX_PANEL_KEY), primary_key=True)
    into_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    into_key: Mapped[str] = mapped_column(String(MAX_PANEL_KEY))


class Report(InProject, Base):
    """A page of text, charts, tables and replays."""

    __tablename__ = "reports"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id"), default=MAIN_ID, index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    # As reports.blocks.Block.
    blocks: Mapped[list[dict[str, Any]]]
    # Increases with each change, so that a page with an older version cannot overwrite it.
    version: Mapped[int] = mapped_column(default=1)
    # Opens the report without a session, if set.
    share_token: Mapped[str | None] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


class Study(InProject, Base):
    """A question, and the specification of the runs that answer it."""

    __tablename__ = "studies"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id"), default=MAIN_ID, index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    question: Mapped[str] = mapped_column(Text)
    # As studies.specification.Specification. `points` grows when the study is extended.
    specification: Mapped[dict[str, Any]]
    state: Mapped[StudyState] = mapped_column(index=True)
    # A sentence that says why the system paused it.
    state_reason: Mapped[str | None] = mapped_column(Text)
    # The account that started it, which its runs have too.
    person_id: Mapped[int | None] = mapped_column(BigInteger)
    started_by: Mapped[str | None] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    # When it was last started or resumed.
    started_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]


class StudyPoint(Base):
    """A point of a study: for each axis an index of its values, or a drawn number."""

    __tablename__ = "study_points"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    draw: Mapped[list[float]]


class StudyRun(Base):
    """A planned run of a study, with the id of the created run. The primary key prevents duplicates.

    A run is in several studies if a study was imported again after a change.
    """

    __tablename__ = "study_runs"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    point: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seed: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # No foreign key: the id stays when the run is purged, so that the run is not created again. It is negative if the
    # run was purged before the study was exported, because its id belongs to another installation.
    run_id: Mapped[int | None] = mapped_column(BigInteger, index=True)


class PaperStudy(Base):
    """The part of a paper's table or figure that a study reproduces, and its share of the paper's budget."""

    __tablename__ = "paper_studies"

    study_id: Mapped[int] = mapped_column(
        ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    paper: Mapped[str] = mapped_column(String(60))
    item: Mapped[str] = mapped_column(String(60))
    part: Mapped[str] = mapped_column(String(60))
    share: Mapped[float]


class ExportedItem:
    """Columns that say what was imported: the same content is not imported again."""

    # The identity of the installation that exported it, and its id there.
    installation: Mapped[str] = mapped_column(String(32))
    source_id: Mapped[int] = mapped_column(BigInteger)
    # Hash of what the archive has of it. If it changed since, another one is imported.
    content_sha256: Mapped[str] = mapped_column(String(64))
    imported_at: Mapped[datetime] = mapped_column(default=utc_now)


class ArchiveImport(ExportedItem, Base):
    """A run that came from an archive file, and where it was exported."""

    __tablename__ = "archive_imports"
    __table_args__ = (Index("ix_archive_imports_source", "installation", "source_id"),)

    run_id: Mapped[int] = mapped_column(
        ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )


class StudyImport(ExportedItem, Base):
    """A study that came from an archive file, and where it was exported."""

    __tablename__ = "study_imports"
    __table_args__ = (Index("ix_study_imports_source", "installation", "source_id"),)

    study_id: Mapped[int] = mapped_column(
        ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )


class ReportImport(ExportedItem, Base):
    """A report that came from an archive file, and where it was exported."""

    __tablename__ = "report_imports"
    __table_args__ = (Index("ix_report_imports_source", "installation", "source_id"),)

    report_id: Mapped[int] = mapped_column(
        ForeignKey("reports.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )

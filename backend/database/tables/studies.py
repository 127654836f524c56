"""Tables of studies, their points and runs."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id, StudyState
from backend.database.tables.projects import MAIN_ID, Project


class Study(Base):
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

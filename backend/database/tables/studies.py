"""Tables of studies, their points and runs."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base, Id, StudyState


class Study(Base):
    """A question, and what is to answer it; its runs are made by and by."""

    __tablename__ = "studies"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    question: Mapped[str] = mapped_column(Text)
    # As studies.specification.Specification; `points` grows when more are asked for.
    specification: Mapped[dict[str, Any]]
    state: Mapped[StudyState] = mapped_column(index=True)
    # In plain words, why the system paused it.
    state_reason: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    # When it was last started or resumed.
    started_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]


class StudyPoint(Base):
    """A point of a study: for each axis the place in its values, or the number that was drawn."""

    __tablename__ = "study_points"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    draw: Mapped[list[float]]


class StudyRun(Base):
    """A run that a study plans, and the number of the one that was made; the key lets none be made twice."""

    __tablename__ = "study_runs"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    point: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seed: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # No foreign key: the number stays when the run is purged, so that it is not made again.
    run_id: Mapped[int | None] = mapped_column(BigInteger, unique=True)


class PaperStudy(Base):
    """From which part of a paper's table or figure a study was started, and with what share of its budget."""

    __tablename__ = "paper_studies"

    study_id: Mapped[int] = mapped_column(
        ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    paper: Mapped[str] = mapped_column(String(60))
    item: Mapped[str] = mapped_column(String(60))
    part: Mapped[str] = mapped_column(String(60))
    share: Mapped[float]

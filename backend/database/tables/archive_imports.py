"""Tables of runs, studies and reports that were imported from archive files."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.database.columns import utc_now
from backend.database.tables.base import Base


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

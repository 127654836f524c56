"""Origins of imported runs, studies and reports, so that an archive is never imported twice."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.archives.format import ArchivedItem, Kind
from backend.database.tables import ArchiveImport, ReportImport, StudyImport

_Table = type[ArchiveImport] | type[StudyImport] | type[ReportImport]
_IMPORTS: dict[Kind, tuple[_Table, InstrumentedAttribute[int]]] = {
    "runs": (ArchiveImport, ArchiveImport.run_id),
    "studies": (StudyImport, StudyImport.study_id),
    "reports": (ReportImport, ReportImport.report_id),
}


@dataclass(frozen=True)
class EarlierImport:
    """An earlier import of an item in any state: its id here, and the hash of its content then."""

    id: int
    content_sha256: str


def lock_imports(session: Session) -> None:
    """Make other imports wait until this transaction ends. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE archive_imports IN SHARE ROW EXCLUSIVE MODE"))


def find_imports(session: Session, kind: Kind, entry: ArchivedItem) -> Sequence[EarlierImport]:
    """Return the earlier imports of an item that were not deleted since, oldest first."""
    table, id_column = _IMPORTS[kind]
    same = (table.installation == entry.installation, table.source_id == entry.id)
    query = select(id_column, table.content_sha256).where(*same).order_by(id_column)
    return [EarlierImport(*row) for row in session.execute(query)]


def record_import(session: Session, kind: Kind, entry: ArchivedItem, item_id: int) -> None:
    """Record where an item came from, unless that is known."""
    table, id_column = _IMPORTS[kind]
    if session.get(table, item_id) is None:
        values = {id_column.key: item_id, "installation": entry.installation, "source_id": entry.id}
        session.add(table(**values, content_sha256=entry.content_sha256))

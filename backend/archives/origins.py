"""Where imported runs came from, so that an archive is never imported twice."""

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.archives.format import ArchivedRun
from backend.database.tables import ArchiveImport


def lock_imports(session: Session) -> None:
    """Make other imports wait until this transaction ends. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE archive_imports IN SHARE ROW EXCLUSIVE MODE"))


def find_imports(session: Session, entry: ArchivedRun) -> list[ArchiveImport]:
    """Return the earlier imports of a run, in any state, that were not deleted since."""
    imported = ArchiveImport
    same = (imported.installation == entry.installation, imported.source_id == entry.id)
    return list(session.scalars(select(imported).where(*same).order_by(imported.run_id)))


def record_import(session: Session, entry: ArchivedRun, run_id: int) -> None:
    """Record where a run came from."""
    session.add(
        ArchiveImport(
            run_id=run_id,
            installation=entry.installation,
            source_id=entry.id,
            content_sha256=entry.content_sha256,
        )
    )

"""Content hashes of runs, studies and reports of this installation, as an export would write them."""

import os
from pathlib import Path

from sqlalchemy.orm import Session

from backend.archives.format import FilesChoice, Kind
from backend.archives.item_writing import spool_report, spool_study
from backend.archives.run_writing import spool_run
from backend.archives.spool import MemberSpool
from backend.database.tables import Report, Run, Study


def hash_item(session: Session, kind: Kind, item_id: int, files: FilesChoice) -> str | None:
    """Return the content hash of an item, or None if it does not exist."""
    with Path(os.devnull).open("wb") as nowhere:
        spool = MemberSpool(nowhere)
        if kind == "runs":
            run = session.get(Run, item_id)
            return spool_run(session, spool, run, 1, files).content_sha256 if run else None
        if kind == "studies":
            study = session.get(Study, item_id)
            return spool_study(session, spool, study, 1).content_sha256 if study else None
        report = session.get(Report, item_id)
        return spool_report(session, spool, report, 1).content_sha256 if report else None

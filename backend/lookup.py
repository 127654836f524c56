"""Rows that a path names by their numbers, or a problem that says there is no such row."""

from typing import Annotated

from fastapi import Depends, Path
from sqlalchemy.orm import Session

from backend.db import Db
from backend.errors import NotFound
from backend.models import Run

# Databases count no further than this.
RunId = Annotated[int, Path(ge=1, le=2**53)]
FileId = Annotated[int, Path(ge=1, le=2**53)]
ErrandId = Annotated[int, Path(ge=1, le=2**53)]
StudyId = Annotated[int, Path(ge=1, le=2**53)]


def find_run(session: Session, run_id: int, *, lock: bool = False) -> Run:
    """The run, or a problem that says there is none; a locked row is this transaction's until it ends."""
    run = session.get(Run, run_id, with_for_update=True if lock else None)
    if run is None:
        raise NotFound(f"There is no run {run_id}.")
    return run


def known_run(db: Db, run_id: RunId) -> Run:
    """The run that a path names, for reading; to change a run, find it inside the transaction."""
    with db.read() as session:
        return find_run(session, run_id)


KnownRun = Annotated[Run, Depends(known_run)]

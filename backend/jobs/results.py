"""Rows that store the results of jobs. Every function runs in the caller's transaction."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Calibration, Evaluation, Futures, Job
from backend.web.lookup import find_run

Row = TypeVar("Row", Evaluation, Calibration, Futures)


def find_with_job(session: Session, table: type[Row], row_id: int, *, lock: bool = False) -> tuple[Row, Job] | None:
    """Return a row and its job, or None if it does not exist. With `lock`, lock the job's run first."""
    row = session.get(table, row_id)
    job = session.get(Job, row.job_id) if row else None
    if job is not None and lock:
        find_run(session, job.require_run_id(), lock=True)
        # Both may have been deleted or changed before the lock.
        row = session.get(table, row_id, populate_existing=True)
        job = session.get(Job, job.id, populate_existing=True, with_for_update=True)
    return None if row is None or job is None else (row, job)


def row_of_job(session: Session, table: type[Row], job: Job) -> Row:
    """Return the row of a job."""
    return session.scalars(select(table).where(table.job_id == job.id)).one()


def to_stored(document: BaseModel) -> dict[str, Any]:
    """Convert a result to JSON that the database can store."""
    # Convert it through JSON text, which spells NaN and infinity as strings. PostgreSQL's JSON cannot store them.
    stored: dict[str, Any] = json.loads(document.model_dump_json())
    return stored

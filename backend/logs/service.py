"""Log of a run: add lines, and read parts of it."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.engine import Db
from backend.database.tables import LogLine, Run
from backend.web.lookup import PathRun
from workers.contract.events import LogLevel
from workers.contract.values import Text

router = APIRouter(tags=["logs"])

LineId = Annotated[int | None, Query(ge=0, le=2**63 - 1)]


class LogEntry(BaseModel):
    """A line of a run's log."""

    id: int
    time: datetime
    attempt: int
    level: LogLevel
    message: str


class LogPage(BaseModel):
    """Lines of a log in order. Pass `next_after` as `after` to read the next ones."""

    items: list[LogEntry]
    next_after: int | None


def note(session: Session, run: Run, message: str, level: LogLevel = "info") -> None:
    """Add a line to a run's log. The caller has locked the run."""
    session.add(LogLine(run_id=run.id, attempt=run.attempt, level=level, message=message))


@router.get("/runs/{run_id}/log")
def read_log(
    db: Db,
    run: PathRun,
    after: LineId = None,
    before: LineId = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 500,
    search: Annotated[Text, Query(max_length=200, description="Text that lines must contain, ignoring case.")] = "",
) -> LogPage:
    """Return the last lines of the log, or the lines after or before a line."""
    query = select(LogLine).where(LogLine.run_id == run.id).limit(limit)
    if after is not None:
        query = query.where(LogLine.id > after)
    if before is not None:
        query = query.where(LogLine.id < before)
    if search:
        query = query.where(LogLine.message.icontains(search, autoescape=True))
    forwards = after is not None
    with db.read() as session:
        lines = list(session.scalars(query.order_by(LogLine.id if forwards else LogLine.id.desc())))
    if not forwards:
        lines.reverse()
    items = [LogEntry.model_validate(line, from_attributes=True) for line in lines]
    return LogPage(items=items, next_after=items[-1].id if items else after)

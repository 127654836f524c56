"""Parts of a run's log: its end, what came after a line, what came before one."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.logs.schemas import LogEntry, LogPage
from backend.models import LogLine


def log_page(
    session: Session, run_id: int, *, after: int | None, before: int | None, limit: int, search: str
) -> LogPage:
    """The lines that follow `after`, else the last ones, or the last ones before `before`; always in order."""
    query = select(LogLine).where(LogLine.run_id == run_id).limit(limit)
    if after is not None:
        query = query.where(LogLine.id > after)
    if before is not None:
        query = query.where(LogLine.id < before)
    if search:
        query = query.where(LogLine.message.icontains(search, autoescape=True))
    forwards = after is not None
    lines = list(session.scalars(query.order_by(LogLine.id if forwards else LogLine.id.desc())))
    if not forwards:
        lines.reverse()
    items = [LogEntry.model_validate(line, from_attributes=True) for line in lines]
    return LogPage(items=items, next_after=items[-1].id if items else after)

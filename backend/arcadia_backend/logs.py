"""Log of a run: add lines, and read parts of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Db, after_commit
from arcadia_backend.database.tables import Attempt, LogLine, Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.live.notices import Topic, publish
from arcadia_backend.web.lookup import MAX_WAIT_SECONDS, PathId, find_run, run_in_progress, wait_while
from arcadia_workers.contract.events import LogLevel
from arcadia_workers.contract.values import Text

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


def note_conflicts(session: Session, run: Run, attempt: Attempt, count: int) -> None:
    """Count events that were stored although their numbers were taken. Warn about the first ones of an attempt."""
    if not attempt.conflicts:
        name = f"the writer {attempt.writer}" if attempt.writer else f"the worker {attempt.worker}"
        message = (
            f"Events arrived under numbers that other events of {name} have, attempt {attempt.attempt}. All are kept, "
            "so some steps may have two points. Two copies of its journal were probably uploaded. "
            "Further ones are not mentioned."
        )
        note(session, run, message, "warning")
        notice = {"run_id": run.id}
        after_commit(session, lambda: publish("run.log", notice))
    attempt.conflicts += count


@dataclass(frozen=True)
class LogQuery:
    """The part of a log to read."""

    run_id: int
    after: int | None
    before: int | None
    limit: int
    search: str

    def lines(self) -> Select[LogLine]:
        """Return the query of the lines, in the order to read them."""
        query = select(LogLine).where(LogLine.run_id == self.run_id).limit(self.limit)
        if self.after is not None:
            query = query.where(LogLine.id > self.after)
        if self.before is not None:
            query = query.where(LogLine.id < self.before)
        if self.search:
            query = query.where(LogLine.message.icontains(self.search, autoescape=True))
        return query.order_by(LogLine.id if self.after is not None else LogLine.id.desc())

    def pending(self, session: Session) -> Topic | None:
        """Return the topic of the next line, or None if there is a line or the run is not in progress."""
        in_progress = run_in_progress(session, self.run_id, "run.log")
        return None if session.scalar(self.lines().limit(1)) else in_progress


async def wait_for_lines(
    request: Request,
    run_id: PathId,
    after: LineId = None,
    before: LineId = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 500,
    search: Annotated[Text, Query(max_length=200, description="Text that lines must contain, ignoring case.")] = "",
    wait: Annotated[
        float,
        Query(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Seconds to wait for a line, if there is none yet and the run is in progress.",
        ),
    ] = 0,
) -> LogQuery:
    """Return the requested part of the log, once it has a line if the request waits for one."""
    query = LogQuery(run_id, after, before, limit, search)
    if wait and before is not None:
        raise Invalid(FieldError(field="wait", message="no line is added before another; use it with `after`"))
    if wait:
        await wait_while(query.pending, request, wait)
    return query


@router.get("/runs/{run_id}/log")
def read_log(db: Db, query: Annotated[LogQuery, Depends(wait_for_lines)]) -> LogPage:
    """Return the last lines of the log, or the lines after or before a line.

    To follow a log, repeat the request with `after` set to `next_after`, and `wait`. A response without lines means
    that the time was up, or that the run has ended or is paused.
    """
    with db.read() as session:
        find_run(session, query.run_id)
        lines = list(session.scalars(query.lines()))
    if query.after is None:
        lines.reverse()
    items = [LogEntry.model_validate(line, from_attributes=True) for line in lines]
    return LogPage(items=items, next_after=items[-1].id if items else query.after)

"""Log lines as clients see them."""

from datetime import datetime

from pydantic import BaseModel

from backend.models import LogLevel


class LogEntry(BaseModel):
    """One line of a run's log."""

    id: int
    time: datetime
    attempt: int
    level: LogLevel
    message: str


class LogPage(BaseModel):
    """Lines in order; `next_after` is the last one's, to ask for what comes after."""

    items: list[LogEntry]
    next_after: int | None

"""Failures that several runs share."""

from collections import Counter

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.runs.filters import MAX_SEARCH_LENGTH, Filters, filter_conditions


class FailureGroup(BaseModel):
    """A failure message with the number of runs that have it."""

    message: str = Field(description="First line of the message. Search the run list for this text to find the runs.")
    runs: int


def group_failures(session: Session, filters: Filters, min_runs: int) -> list[FailureGroup]:
    """Group failed runs by the first line of their message, and return the groups by size, largest first."""
    conditions = (*filter_conditions(session, filters), Run.state == "failed", Run.failure_message.is_not(None))
    found = select(Run.failure_message, func.count()).where(*conditions).group_by(Run.failure_message)
    counts: Counter[str] = Counter()
    for message, runs in session.execute(found):
        counts[_first_line(message or "")] += runs
    shared = [(message, runs) for message, runs in counts.items() if message and runs >= min_runs]
    shared.sort(key=lambda group: (-group[1], group[0]))
    return [FailureGroup(message=message, runs=runs) for message, runs in shared]


def _first_line(message: str) -> str:
    """Return the first line, cut to the longest text that the list can search for."""
    return message.strip().partition("\n")[0][:MAX_SEARCH_LENGTH].strip()

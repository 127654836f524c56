"""Failures that several runs share, over all runs of a list."""

from collections import Counter

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.runs.list_query import LONGEST_TEXT, Filters, filtered


class FailureGroup(BaseModel):
    """A failure, and how many runs ended with it."""

    message: str = Field(description="Its first line; as the list's text, it finds the runs.")
    runs: int


def failure_groups(session: Session, filters: Filters, fewest: int) -> list[FailureGroup]:
    """The failures of at least so many of the wanted runs, told apart by their first lines; the most frequent first."""
    wanted = (*filtered(filters), Run.state == "failed", Run.failure_message.is_not(None))
    found = select(Run.failure_message, func.count()).where(*wanted).group_by(Run.failure_message)
    counts: Counter[str] = Counter()
    for message, runs in session.execute(found):
        counts[_first_line(message or "")] += runs
    shared = [(message, runs) for message, runs in counts.items() if message and runs >= fewest]
    shared.sort(key=lambda group: (-group[1], group[0]))
    return [FailureGroup(message=message, runs=runs) for message, runs in shared]


def _first_line(message: str) -> str:
    """As much of the first line as the list can be searched for."""
    return message.strip().partition("\n")[0][:LONGEST_TEXT].strip()

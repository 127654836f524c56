"""Omitted data of reported runs, and the warnings about them in the run's log."""

from sqlalchemy.orm import Session

from backend.database.tables import Attempt, LogLine


class Omissions:
    """The kinds of problems with the events of one writer. Each kind is mentioned once in the run's log."""

    def __init__(self, session: Session, attempt: Attempt) -> None:
        self._session, self._attempt = session, attempt
        self._mentioned = set(attempt.problems or [])

    def add(self, kind: str, sentence: str) -> None:
        """Log a warning, unless there was a problem of this kind before."""
        if kind in self._mentioned:
            return
        self._mentioned.add(kind)
        self._attempt.problems = sorted(self._mentioned)
        line = f"{sentence} Further problems of this kind are not mentioned."
        attempt = self._attempt
        self._session.add(LogLine(run_id=attempt.run_id, attempt=attempt.attempt, level="warning", message=line))

"""Lines that the system itself writes into a run's log."""

from sqlalchemy.orm import Session

from backend.models import LogLevel, LogLine, Run


def note(session: Session, run: Run, message: str, level: LogLevel = "info") -> None:
    """Add a line to a run's log; the caller holds the run's row locked."""
    session.add(LogLine(run_id=run.id, attempt=run.attempt, level=level, message=message))

"""Notices about runs, for open pages."""

from sqlalchemy.orm import Session

from backend.database.engine import after_commit
from backend.live.notices import publish


def announce_run(session: Session, run_id: int, *names: str) -> None:
    """Publish notices about a run after the commit, for example run.changed."""
    for name in names:
        after_commit(session, lambda name=name: publish(name, {"run_id": run_id}))  # type: ignore[misc]

"""Errands as users and schedules ask for them; every function works inside the caller's transaction.

The caller has locked the errand's run before, if it has one, so that all lock in the same order.
"""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Checkpoint, Errand, File, Run
from backend.errands.queue import Line
from backend.errors import Conflict
from backend.files.service import delete_files
from backend.live.notices import publish
from workers.contract.worker_api import ErrandKind, ErrandState

UNDER_WAY: tuple[ErrandState, ...] = ("queued", "running")


def ask(
    session: Session,
    run: Run | None,
    checkpoint: Checkpoint | None,
    kind: ErrandKind,
    parameters: dict[str, Any],
    total: int,
) -> Errand:
    """Put an errand into the queue; those of people who play are of no run."""
    errand = Errand(
        kind=kind,
        run_id=run.id if run else None,
        checkpoint_id=checkpoint.id if checkpoint else None,
        parameters=parameters,
        total=total,
        state="queued",
    )
    session.add(errand)
    session.flush()
    announce(session, errand)
    return errand


def waiting(session: Session, run: Run, kind: ErrandKind) -> int:
    """Count a run's errands of a kind that are under way."""
    of_run = select(func.count()).select_from(Errand).where(Errand.run_id == run.id, Errand.kind == kind)
    return session.scalar(of_run.where(Errand.state.in_(UNDER_WAY))) or 0


def cancel(session: Session, errand: Errand) -> None:
    """Cancel an errand; one that a worker does is cancelled once its process has ended."""
    if errand.state not in UNDER_WAY:
        raise Conflict(f"It is {errand.state} already, so there is nothing to cancel.")
    errand.desired = "cancel"
    if errand.state == "queued":
        errand.message = None  # It told why the errand is back in the queue.
        end(session, errand, "cancelled")
    announce(session, errand)


def end(session: Session, errand: Errand, state: ErrandState, message: str | None = None) -> None:
    """Move an errand on from its attempt, and tell open pages."""
    errand.state, errand.worker, errand.lease_expires_at = state, None, None
    errand.message = message or errand.message
    errand.finished_at = None if state in UNDER_WAY else utc_now()
    announce(session, errand)


def remove(session: Session, errand: Errand) -> None:
    """Remove an errand with all that it brought; a worker that does it hears that it is gone, and ends."""
    announce(session, errand)
    delete_errand_files(session, errand)
    session.delete(errand)
    session.flush()


def delete_errand_files(session: Session, errand: Errand) -> None:
    """Delete the files that an errand has made so far."""
    delete_files(session, session.scalars(select(File.id).where(File.errand_id == errand.id)).all())


def reason(errand: Errand, queue: Line | None) -> str | None:
    """In plain words, why an errand is in its state, or what one that waits for a worker waits for."""
    if errand.state != "queued":
        return "Cancelling." if errand.state == "running" and errand.desired == "cancel" else errand.message
    return " ".join(part for part in (errand.message, queue and queue.words(errand)) if part)


def announce(session: Session, errand: Errand) -> None:
    """Tell open pages after the commit that an errand, or what it brought, has changed."""
    if errand.run_id is None:
        name, notice = "play.changed", {"id": errand.id}
    else:
        name, notice = "run.files", {"run_id": errand.run_id}
    after_commit(session, lambda: publish(name, notice))

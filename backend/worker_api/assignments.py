"""Rules that runs and jobs of a worker share: the claim, the lease and the stale check."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, SQLColumnExpression, select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Checkpoint, Installation, Job, Run
from backend.errors import Problem
from workers.contract.worker_api import STALE_ATTEMPT, OfferedCheckpoint

Assignment = TypeVar("Assignment", Run, Job)

# The response to a claim may be lost, so the first lease is this share of a full lease. The first heartbeat renews it.
FIRST_LEASE_SHARE = 1 / 4
# Rows are usually locked for milliseconds, such as by events of their evaluations. A longer lock must not block the
# queue.
LOCK_WAIT_MS = 2_000
LOCK_NOT_AVAILABLE = "55P03"


class StaleAttempt(Problem):
    """A call names an attempt that has ended."""

    status = 409
    kind = STALE_ATTEMPT
    title = "The attempt has ended"


def stale_attempt(held: Run | Job, attempt: int) -> StaleAttempt:
    """Return the problem that makes a worker end its process for an assignment."""
    noun = "run" if isinstance(held, Run) else "job"
    return StaleAttempt(
        f"Attempt {attempt} at {noun} {held.id} has ended. The {noun} is {held.state} at attempt {held.attempt}. "
        "Stop its process."
    )


def claim_first(
    session: Session,
    settings: Settings,
    table: type[Assignment],
    waiting: Sequence[ColumnElement[bool]],
    order: Sequence[SQLColumnExpression[Any]],
    worker: str,
    changes: Mapping[str, Any],
) -> Assignment | None:
    """Claim the first waiting row for a worker with a conditional UPDATE, or return None if no row waits.

    Wait for a row that is locked, because to skip it would break the order of the queue. A row that stays locked
    longer than `LOCK_WAIT_MS` is left for the next claim.
    """
    skipped: list[int] = []
    first = select(table.id).where(*waiting).order_by(*order).limit(1)
    while (row_id := session.scalar(first.where(table.id.not_in(skipped)))) is not None:
        claim = (
            update(table)
            .where(table.id == row_id, *waiting)
            .values(
                worker=worker,
                attempt=table.attempt + 1,
                lease_expires_at=utc_now() + timedelta(seconds=FIRST_LEASE_SHARE * settings.lease_seconds),
                **changes,
            )
            .execution_options(synchronize_session=False)
        )
        savepoint = session.begin_nested()
        try:
            _limit_lock_wait(session, f"{LOCK_WAIT_MS}ms")
            if session.execute(claim.returning(table.id)).scalar_one_or_none() is not None:
                _limit_lock_wait(session, "DEFAULT")
                savepoint.commit()
                return session.get_one(table, row_id)
        except OperationalError as error:
            savepoint.rollback()
            if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
            skipped.append(row_id)
        else:
            # Another transaction changed the row first. Release its lock, since others lock rows in another order.
            savepoint.rollback()
    return None


def _limit_lock_wait(session: Session, limit: str) -> None:
    """Limit how long a statement waits for a lock until the savepoint ends. SQLite has no row locks."""
    if session.connection().dialect.name == "postgresql":
        quoted = limit if limit == "DEFAULT" else f"'{limit}'"
        session.execute(text(f"SET LOCAL lock_timeout TO {quoted}"))


def count_loss(held: Run | Job, settings: Settings, reason: str) -> tuple[bool, str]:
    """Count a lost attempt. Return whether the assignment may be queued again, and a message that says so."""
    if held.requeues >= settings.max_requeues:
        return False, f"{reason} It was put back in the queue {held.requeues} times already, which is the limit."
    held.requeues += 1
    return True, f"{reason} Back in the queue, {held.requeues} of at most {settings.max_requeues} times."


def read_installation_id(session: Session) -> str:
    """Return the id of this installation, which a worker sends with every call about an assignment."""
    return session.scalar(select(Installation.identity)) or ""


def offer(checkpoint: Checkpoint) -> OfferedCheckpoint:
    """Return a checkpoint as workers see it."""
    return OfferedCheckpoint(
        id=checkpoint.file_id or 0,
        file=checkpoint.file,
        sha256=checkpoint.sha256,
        bytes=checkpoint.bytes,
        step=checkpoint.step,
        frames=checkpoint.frames,
    )

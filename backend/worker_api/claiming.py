"""Claims of queued rows in order: the same for runs and jobs."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Job, Run

# A worker reports what it holds as soon as it knows. Until then it has only this share of a lease, since the answer to
# its claim may have been lost.
UNHEARD = 1 / 4
# Rows are locked for milliseconds, such as by events of their evaluations. A longer lock must not stop the queue.
LOCK_WAIT_MS = 2_000
LOCK_NOT_AVAILABLE = "55P03"


def claim_first(
    session: Session,
    settings: Settings,
    model: type[Run] | type[Job],
    waiting: Sequence[ColumnElement[bool]],
    order: Sequence[SQLColumnExpression[Any]],
    worker: str,
    changes: Mapping[str, Any],
) -> int | None:
    """Hand the first waiting row to a worker by a conditional UPDATE and return its number, or None if none waits.

    A row that is locked is waited for, because passing over it would break the order of the queue. A row that stays
    locked for longer than `LOCK_WAIT_MS` is left for the next claim.
    """
    passed_over: list[int] = []
    first = select(model.id).where(*waiting).order_by(*order).limit(1)
    while (number := session.scalar(first.where(model.id.not_in(passed_over)))) is not None:
        claimed = (
            update(model)
            .where(model.id == number, *waiting)
            .values(
                worker=worker,
                attempt=model.attempt + 1,
                lease_expires_at=utc_now() + timedelta(seconds=UNHEARD * settings.lease_seconds),
                **changes,
            )
            .execution_options(synchronize_session=False)
        )
        savepoint = session.begin_nested()
        try:
            _limit_lock_wait(session, f"{LOCK_WAIT_MS}ms")
            if session.execute(claimed.returning(model.id)).scalar_one_or_none() is not None:
                _limit_lock_wait(session, "DEFAULT")
                savepoint.commit()
                return number
        except OperationalError as error:
            savepoint.rollback()
            if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
            passed_over.append(number)
        else:
            # Another transaction changed it first. Keep no lock on it, since others lock rows in another order.
            savepoint.rollback()
    return None


def _limit_lock_wait(session: Session, limit: str) -> None:
    """Limit how long a statement waits for a lock until the savepoint ends; SQLite locks no rows."""
    if session.connection().dialect.name == "postgresql":
        quoted = limit if limit == "DEFAULT" else f"'{limit}'"
        session.execute(text(f"SET LOCAL lock_timeout TO {quoted}"))

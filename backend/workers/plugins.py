"""The plug-ins of workers, and which runs and jobs a worker can do with them."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.database.tables import Job, Run, Worker
from workers.contract.plugins.needs import joined


def plugins_of(worker: Worker) -> frozenset[str]:
    """Return the names of the plug-ins that work on a worker."""
    return frozenset(plugin["name"] for plugin in worker.plugins if not plugin["problem"])


def has_plugins(worker: Worker, needed: str) -> bool:
    """Return True if a worker has the plug-ins in a list of names."""
    return not needed or plugins_of(worker).issuperset(needed.split(","))


def can_be_done_by(session: Session, worker: str, table: type[Run] | type[Job]) -> ColumnElement[bool]:
    """Return the condition for queued rows whose plug-ins a worker has."""
    row = session.get(Worker, worker)
    wanted = session.scalars(select(table.needed_plugins).where(table.state == "queued").distinct())
    return table.needed_plugins.in_([each for each in wanted if not each or (row and has_plugins(row, each))])


def missing_reason(workers: Collection[Worker], needed: str, kind: str) -> str | None:
    """Return a message if there are workers of a kind, but none has the needed plug-ins."""
    if not workers or any(has_plugins(worker, needed) for worker in workers):
        return None
    return (
        f"No {kind} has {joined(needed.split(','))}. Install what is missing on the host of a worker, allow it with "
        "ARCADIA_PLUGINS and start the worker again."
    )

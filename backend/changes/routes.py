"""Routes of a run's changes."""

from fastapi import APIRouter

from backend.changes import queries, schemas, service
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.web.caller import Caller
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId, PathRun, find_run

router = APIRouter(tags=["runs"])


@router.post("/runs/{run_id}/changes", status_code=201)
def change_run(
    db: Db, bell: Bell, once: Idempotent, caller: Caller, run_id: PathId, request: schemas.RequestChange
) -> schemas.RunChange:
    """Change settings of a run while it trains, or train it longer after it has ended.

    A live run applies the change at its next update. A run that waits or is paused applies it when it continues. A run
    that has ended is queued again if it gets more steps, and continues from its last checkpoint.
    """
    with once.write(db) as session:
        run = find_run(session, run_id, lock=True)
        change = service.request_change(session, run, request, caller)
        bell.ring_after_commit(session, run)
        return once.store(session, schemas.RunChange.model_validate(change))


@router.get("/runs/{run_id}/changes")
def list_changes(db: Db, run: PathRun) -> schemas.RunChanges:
    """Return the changes of a run, and its configuration before them."""
    with db.read() as session:
        return queries.read_changes(session, run)

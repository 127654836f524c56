"""Route of the lineage of a run."""

from fastapi import APIRouter

from backend.database.engine import Db
from backend.lineage.queries import read_lineage
from backend.lineage.schemas import Lineage
from backend.web.lookup import PathId, find_run

router = APIRouter(tags=["runs"])


@router.get("/runs/{run_id}/lineage")
def show_lineage(db: Db, run_id: PathId) -> Lineage:
    """Return the ancestors of a run, and the evaluations, forks and imported agents of its checkpoints."""
    with db.read() as session:
        return read_lineage(session, find_run(session, run_id))

"""Route of the diagnosis of a run."""

from fastapi import APIRouter

from backend.database.engine import Db
from backend.diagnosis import queries
from backend.diagnosis.schemas import Finding
from backend.web.lookup import PathRun

router = APIRouter(tags=["runs"])


@router.get("/runs/{run_id}/diagnosis")
def diagnose_run(db: Db, run: PathRun) -> list[Finding]:
    """Return the faults of a run, with their causes, their evidence, and settings that may help.

    To test the suggested settings, send `test` of a finding to POST /studies/preview, then to POST /studies.
    """
    with db.read() as session:
        return queries.read_findings(session, run)

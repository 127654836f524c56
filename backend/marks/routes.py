"""Routes of marks."""

from fastapi import APIRouter

from backend.comparisons.selection import RunIds, load_runs
from backend.database.engine import Db
from backend.marks import queries
from backend.marks.rules import RULES
from backend.marks.schemas import AnomalyRule, Mark, RunMarks
from backend.web.lookup import PathRun

router = APIRouter(tags=["metrics"])


@router.get("/runs/{run_id}/marks")
def read_marks(db: Db, run: PathRun) -> list[Mark]:
    """Return the marks on the run's curves: checkpoints, forks, resumed attempts, changes, warnings, anomalies."""
    with db.read() as session:
        return queries.read_marks(session, run)


@router.get("/marks")
def read_marks_of_runs(db: Db, runs: RunIds) -> list[RunMarks]:
    """Return the forks, resumed attempts and changes of some runs. Runs without any are left out."""
    with db.read() as session:
        return queries.read_interventions(session, load_runs(session, runs))


@router.get("/anomaly-rules")
def read_anomaly_rules() -> list[AnomalyRule]:
    """Return the rules that find anomalies in the metrics of a run."""
    return [rule.info for rule in RULES]

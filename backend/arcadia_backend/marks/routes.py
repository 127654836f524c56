"""Routes of the marks of curves, and of the rules that find anomalies."""

from fastapi import APIRouter

from arcadia_backend.comparisons.routes import RunIds, load_runs
from arcadia_backend.database.engine import Db
from arcadia_backend.marks.queries import load_marks, read_interventions
from arcadia_backend.marks.rules import RULES
from arcadia_backend.marks.signals import AnomalyRule, Mark, RunMarks
from arcadia_backend.web.lookup import PathRun

router = APIRouter(tags=["metrics"])


@router.get("/runs/{run_id}/marks")
def read_marks(db: Db, run: PathRun) -> list[Mark]:
    """Return the marks on the run's curves: checkpoints, forks, resumed attempts, changes, warnings, anomalies."""
    with db.read() as session:
        return load_marks(session, run)


@router.get("/marks")
def read_marks_of_runs(db: Db, runs: RunIds) -> list[RunMarks]:
    """Return the forks, resumed attempts and changes of some runs. Runs without any are left out."""
    with db.read() as session:
        return read_interventions(session, load_runs(session, runs))


@router.get("/anomaly-rules")
def read_anomaly_rules() -> list[AnomalyRule]:
    """Return the rules that find anomalies in the metrics of a run."""
    return [rule.info for rule in RULES]

"""Verdicts of finished studies, and alerts about them."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.alerts.rules import is_enabled
from backend.alerts.service import NewAlert, raise_alert
from backend.comparisons.verdict import judge
from backend.database.columns import utc_now
from backend.database.engine import Database
from backend.database.tables import Alert, Run, Study, StudyRun
from backend.studies.points import read_specification
from backend.studies.queries import to_schema
from backend.studies.results import best_points

# Verdicts are announced soon after a study has finished. The first start after an upgrade announces none of old ones.
PERIOD = timedelta(days=1)
# The best points decide the verdict. A study may have hundreds.
MAX_POINTS, MAX_PAIRS = 5, 3


@dataclass(frozen=True)
class StudyVerdict:
    """Verdict on a study: its best points, or all points if it runs until certain."""

    text: str
    is_decided: bool


def announce_verdicts(database: Database) -> None:
    """Raise an alert for each study that has just finished."""
    with database.read() as session:
        is_announced = (Alert.study_id == Study.id) & (Alert.kind == "study_verdict")
        known = select(Alert.id).where(is_announced, Alert.created_at >= Study.finished_at).exists()
        recent = (Study.state == "finished", Study.finished_at > utc_now() - PERIOD)
        studies = session.scalars(select(Study).where(*recent, ~known)).all()
        if not studies or not is_enabled(session, "study_verdict"):
            return
        # The bootstrap takes a while, so it happens outside of a transaction.
        alerts = [_describe(session, study) for study in studies]
    with database.write() as session:
        for alert in alerts:
            raise_alert(session, alert)


def read_verdict(session: Session, study: Study) -> StudyVerdict:
    """Return the verdict on a study: its best points, or all points if it runs until certain."""
    if read_specification(study).until is not None:
        found = to_schema(session, study)
        is_decided = any(point.decision and point.decision.beaten_by is not None for point in found.table)
        return StudyVerdict(found.verdict or "", is_decided)
    points = best_points(session, study, MAX_POINTS)
    ids = select(StudyRun.run_id).where(StudyRun.study_id == study.id, StudyRun.point.in_(points))
    runs = session.scalars(select(Run).where(Run.id.in_(ids), Run.state == "finished").order_by(Run.id)).all()
    if not runs:
        return StudyVerdict("None of its runs has finished with a score.", is_decided=False)
    verdict = judge(session, runs, None)
    pairs = verdict.pairs[:MAX_PAIRS]
    text = verdict.message or " ".join(f"{pair.text} {pair.warning}".strip() for pair in pairs)
    return StudyVerdict(text, is_decided=any(pair.difference for pair in pairs))


def _describe(session: Session, study: Study) -> NewAlert:
    verdict = read_verdict(session, study)
    outcome = "has a verdict" if verdict.is_decided else "finished without a verdict"
    finished = study.finished_at.isoformat() if study.finished_at else ""
    key = f"study_verdict:{study.id}:{finished}"
    return NewAlert("study_verdict", f"{study.name} {outcome}", verdict.text, study_id=study.id, key=key)

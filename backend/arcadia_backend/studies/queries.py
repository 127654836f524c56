"""Queries that build the study schemas of the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.alerts.rules import is_enabled
from arcadia_backend.alerts.service import NewAlert, raise_alert
from arcadia_backend.comparisons.verdict import judge
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Alert, Run, Study, StudyRun
from arcadia_backend.projects.service import in_projects, why_not_editable
from arcadia_backend.studies import results, schemas
from arcadia_backend.studies.planning import remaining_run_count
from arcadia_backend.studies.points import point_values, read_specification
from arcadia_backend.studies.results import PlannedRun, Point, best_means, best_points, load_points
from arcadia_backend.studies.service import count_runs_by_state, why_not_allowed
from arcadia_backend.studies.specification import Specification, axis_title, point_label

ZERO_COUNTS = dict.fromkeys(schemas.RunCounts.model_fields, 0)


def list_studies(session: Session, limit: int, before: int | None, projects: Sequence[str] = ()) -> schemas.StudyPage:
    """Return one page of studies, newest first, of these projects or of all."""
    listed = select(tables.Study).where(*in_projects(tables.Study.project_id, projects))
    query = listed.order_by(tables.Study.id.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(tables.Study.id < before)
    studies = session.scalars(query).all()
    items = to_summaries(session, studies[:limit])
    return schemas.StudyPage(items=items, next_cursor=items[-1].id if len(studies) > limit else None)


def to_schema(session: Session, study: tables.Study) -> schemas.Study:
    """Return the schema of a study with its points."""
    points = load_points(session, study)
    spec = read_specification(study)
    decisions = results.decide(spec, {point.number: point.runs for point in points}) if spec.until else {}
    table = [_to_point(spec, point, decisions.get(point.number)) for point in points]
    return schemas.Study(
        **to_summaries(session, [study])[0].model_dump(),
        question=study.question,
        origin=_origin(session, study),
        specification=spec,
        runs_remaining=remaining_run_count(session, study),
        axes=[
            schemas.StudyAxis(title=axis_title(axis), fields=axis.fields, numeric=axis.numeric, log=axis.log)
            for axis in spec.axes
        ],
        table=table,
        verdict=results.describe(spec, decisions, {row.number: row.label for row in table}) if decisions else None,
    )


def _origin(session: Session, study: tables.Study) -> schemas.StudyOrigin | None:
    origin = session.get(tables.PaperStudy, study.id)
    if origin is None:
        return None
    return schemas.StudyOrigin(paper=origin.paper, item=origin.item, part=origin.part, share=origin.share)


def to_summaries(session: Session, studies: Sequence[tables.Study]) -> list[schemas.StudySummary]:
    """Return the schemas of studies without their points."""
    ids = [study.id for study in studies]
    run_counts, best = count_runs_by_state(session, ids), best_means(session, ids)
    study_id = tables.StudyPoint.study_id
    query = select(study_id, func.count()).where(study_id.in_(ids)).group_by(study_id)
    points = {row[0]: row[1] for row in session.execute(query)}
    return [
        schemas.StudySummary(
            id=study.id,
            name=study.name,
            project=study.project,
            state=study.state,
            state_reason=study.state_reason,
            created_at=study.created_at,
            started_at=study.started_at,
            finished_at=study.finished_at,
            runs=schemas.RunCounts.model_validate(ZERO_COUNTS | run_counts[study.id]),
            points=points.get(study.id, 0),
            best=best.get(study.id),
            actions=schemas.StudyActions.model_validate(
                {
                    action: why_not_editable(study.project_id) or why_not_allowed(study, action)
                    for action in ("pause", "resume", "stop", "delete")
                }
            ),
            may_edit=study.may_edit,
        )
        for study in studies
    ]


def _to_point(spec: Specification, point: Point, decision: results.Decision | None) -> schemas.StudyPoint:
    values = point_values(spec, point.draw)
    return schemas.StudyPoint(
        number=point.number,
        label=point_label(values),
        values=values,
        runs=[_to_run(run) for run in point.runs],
        n=point.n,
        failed=point.failed,
        mean=point.mean,
        low=point.low,
        high=point.high,
        decision=_to_decision(decision) if decision else None,
    )


def _to_decision(decision: results.Decision) -> schemas.PointDecision:
    evidence = decision.evidence
    return schemas.PointDecision(
        state=decision.state,
        beaten_by=decision.beaten_by,
        e_value=evidence.e_value,
        threshold=evidence.threshold,
    )


def _to_run(run: PlannedRun) -> schemas.StudyRun:
    state = run.state or ("planned" if run.run_id is None else "removed")
    return schemas.StudyRun(
        seed=run.seed, run_id=run.run_id, state=state, step=run.step, total_steps=run.total_steps, score=run.score
    )


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
    spec = read_specification(study)
    if spec.until is not None:
        details = to_schema(session, study)
        is_decided = any(point.decision and point.decision.beaten_by is not None for point in details.table)
        return StudyVerdict(details.verdict or "", is_decided)
    points = best_points(session, study, spec, MAX_POINTS)
    ids = select(StudyRun.run_id).where(StudyRun.study_id == study.id, StudyRun.point.in_(points))
    # The verdict counts failed runs. Runs that were stopped, such as pruned ones, say nothing about the score.
    query = select(Run).where(Run.id.in_(ids), Run.state.in_(("finished", "failed"))).order_by(Run.id)
    runs = session.scalars(query).all()
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

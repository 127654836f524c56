"""Studies as the API shows them."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database import tables
from backend.studies import schemas
from backend.studies.labels import axis_title, point_label
from backend.studies.planning import remaining_run_count
from backend.studies.points import point_values, read_specification
from backend.studies.results import PlannedRun, Point, best_means, load_points
from backend.studies.run_queue import count_runs_by_state
from backend.studies.service import refusal
from backend.studies.specification import Specification

NO_RUNS = dict.fromkeys(schemas.RunCounts.model_fields, 0)


def list_studies(session: Session, limit: int, before: int | None) -> schemas.StudyPage:
    """The newest studies, or those before one."""
    query = select(tables.Study).order_by(tables.Study.id.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(tables.Study.id < before)
    studies = session.scalars(query).all()
    items = to_summaries(session, studies[:limit])
    return schemas.StudyPage(items=items, next_cursor=items[-1].id if len(studies) > limit else None)


def to_schema(session: Session, study: tables.Study) -> schemas.Study:
    """A study with its points."""
    points = load_points(session, study)
    asked = read_specification(study)
    return schemas.Study(
        **to_summaries(session, [study])[0].model_dump(),
        question=study.question,
        origin=_origin(session, study),
        specification=asked,
        unmade=remaining_run_count(session, study),
        axes=[
            schemas.StudyAxis(title=axis_title(axis), fields=axis.fields, numeric=axis.numeric, log=axis.log)
            for axis in asked.axes
        ],
        table=[_point(asked, point) for point in points],
    )


def _origin(session: Session, study: tables.Study) -> schemas.StudyOrigin | None:
    found = session.get(tables.PaperStudy, study.id)
    if found is None:
        return None
    return schemas.StudyOrigin(paper=found.paper, item=found.item, part=found.part, share=found.share)


def to_summaries(session: Session, studies: Sequence[tables.Study]) -> list[schemas.StudySummary]:
    """Studies without their points."""
    ids = [study.id for study in studies]
    counted, best = count_runs_by_state(session, ids), best_means(session, ids)
    of = tables.StudyPoint.study_id
    query = select(of, func.count()).where(of.in_(ids)).group_by(of)
    points = {row[0]: row[1] for row in session.execute(query)}
    return [
        schemas.StudySummary(
            id=study.id,
            name=study.name,
            state=study.state,
            state_reason=study.state_reason,
            created_at=study.created_at,
            started_at=study.started_at,
            finished_at=study.finished_at,
            runs=schemas.RunCounts.model_validate(NO_RUNS | counted[study.id]),
            points=points.get(study.id, 0),
            best=best.get(study.id),
            actions=schemas.StudyActions.model_validate(
                {action: refusal(study, action) for action in ("pause", "resume", "stop", "delete")}
            ),
        )
        for study in studies
    ]


def _point(asked: Specification, point: Point) -> schemas.StudyPoint:
    values = point_values(asked, point.draw)
    return schemas.StudyPoint(
        number=point.number,
        label=point_label(values),
        values=values,
        runs=[_run(run) for run in point.runs],
        n=point.n,
        mean=point.mean,
        low=point.low,
        high=point.high,
    )


def _run(run: PlannedRun) -> schemas.StudyRun:
    state = run.state or ("planned" if run.run_id is None else "removed")
    return schemas.StudyRun(
        seed=run.seed, run_id=run.run_id, state=state, step=run.step, total_steps=run.total_steps, score=run.score
    )

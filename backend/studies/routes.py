"""/studies: preview, start, list, read, edit, steer, extend and remove."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from backend.config import CurrentSettings
from backend.database.engine import Database, Db
from backend.database.tables import Study
from backend.doorbell import Bell, Doorbell
from backend.errors import NotFound
from backend.figures.schemas import Figure
from backend.studies import planning, queries, run_queue, schemas, service
from backend.studies.cost_limits import confirmation_reason
from backend.studies.importance_figure import importance_figure
from backend.studies.parallel_figure import parallel_figure
from backend.studies.points import read_specification
from backend.studies.results import load_points
from backend.studies.scatter_figure import scatter_figure
from backend.studies.specification import Specification
from backend.web.lookup import PathId
from workers.contract.values import Id

router = APIRouter(tags=["studies"])


@router.post("/studies/preview")
def preview_study(db: Db, settings: CurrentSettings, asked: Specification) -> schemas.Preview:
    """How many runs a study would have, and what they would cost; nothing is stored."""
    with db.read() as session:
        _, cost, refused = planning.validate_and_price(session, asked, settings.max_study_runs)
    confirm = confirmation_reason(cost.steps, cost.seconds, cost.unmeasured)
    return schemas.Preview.model_validate({**vars(cost), "confirm": confirm, "refused": refused})


@router.post("/studies", status_code=201)
def start_study(db: Db, bell: Bell, settings: CurrentSettings, wanted: schemas.StartStudy) -> schemas.Study:
    """Store a study and queue its first runs; the others follow as these end.

    Where the preview says so, the total of its steps has to be sent as `confirm_steps`.
    """
    asked = wanted.specification
    with db.read() as session:
        draws = planning.confirmed_draws(session, asked, settings.max_study_runs, wanted.confirm_steps)
    with db.write() as session:
        study = service.start(session, asked, draws)
        _queue_next_runs(session, bell, study)
        return queries.to_schema(session, study)


@router.get("/studies")
def list_studies(
    db: Db,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[Id | None, Query(description="The next_cursor of the page before.")] = None,
) -> schemas.StudyPage:
    """Studies, the newest first."""
    with db.read() as session:
        return queries.list_studies(session, limit, before)


@router.get("/studies/{study_id}")
def read_study(db: Db, study_id: PathId) -> schemas.Study:
    """A study with its points and what their runs have come to."""
    with db.read() as session:
        return queries.to_schema(session, service.find_study(session, study_id))


@router.get("/studies/{study_id}/figure")
def draw_study(
    db: Db,
    study_id: PathId,
    kind: Annotated[
        schemas.FigureKind,
        Query(
            description="scatter: returns along an axis; parallel: a line for each point through all axes; "
            "importance: the share of the returns' variance that each axis explains by itself."
        ),
    ] = "scatter",
    axis: Annotated[int, Query(ge=0, le=19, description="The axis of a scatter, counted from 0.")] = 0,
) -> Figure:
    """What the points of a study have come to, as a figure."""
    with db.read() as session:
        study = service.find_study(session, study_id)
        asked, points = read_specification(study), load_points(session, study)
    if kind != "scatter":
        return (parallel_figure if kind == "parallel" else importance_figure)(asked, points)
    if axis >= len(asked.axes):
        raise NotFound(f"Study {study_id} has no axis {axis}; it has {len(asked.axes)}, counted from 0.")
    return scatter_figure(asked, points, axis)


@router.patch("/studies/{study_id}")
def edit_study(db: Db, study_id: PathId, changes: schemas.EditStudy) -> schemas.Study:
    """Change name or question."""
    with db.write() as session:
        study = service.find_study(session, study_id, lock=True)
        service.edit(session, study, changes)
        return queries.to_schema(session, study)


@router.delete("/studies/{study_id}", status_code=204)
def delete_study(db: Db, study_id: PathId) -> Response:
    """Remove a study that is not running; its runs stay."""
    with db.write() as session:
        service.delete(session, service.find_study(session, study_id, lock=True))
    return Response(status_code=204)


@router.post("/studies/{study_id}/pause")
def pause_study(db: Db, bell: Bell, study_id: PathId) -> schemas.Study:
    """Make no more runs, and pause those that wait or train."""
    return _act(db, bell, study_id, "pause")


@router.post("/studies/{study_id}/resume")
def resume_study(db: Db, bell: Bell, study_id: PathId) -> schemas.Study:
    """Go on, with paused runs too; runs that were stopped stay so."""
    return _act(db, bell, study_id, "resume")


@router.post("/studies/{study_id}/stop")
def stop_study(db: Db, bell: Bell, study_id: PathId) -> schemas.Study:
    """Make no more runs, and stop those that have not ended."""
    return _act(db, bell, study_id, "stop")


@router.post("/studies/{study_id}/extend")
def extend_study(
    db: Db, bell: Bell, settings: CurrentSettings, study_id: PathId, wanted: schemas.ExtendStudy
) -> schemas.Study:
    """Go on with more seeds, as 3 more of the best 2 points, or with more random points.

    A study that was stopped makes the runs too that it had not made.
    """
    with db.write() as session:
        study = service.find_study(session, study_id, lock=True)
        service.extend(session, study, wanted, settings.max_study_runs)
        _queue_next_runs(session, bell, study)
        return queries.to_schema(session, study)


def _act(db: Database, bell: Doorbell, study_id: int, action: schemas.SteerAction) -> schemas.Study:
    with db.write() as session:
        study = service.find_study(session, study_id, lock=True)
        for run in service.act(session, study, action):
            bell.ring_after_commit(session, run)
        _queue_next_runs(session, bell, study)
        return queries.to_schema(session, study)


def _queue_next_runs(session: Session, bell: Doorbell, study: Study) -> None:
    session.flush()
    for run in run_queue.queue_next_runs(session, study):
        bell.ring_after_commit(session, run)
    session.flush()

"""/studies: preview, start, list, read, edit, control, extend and delete studies."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy.orm import Session

from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.tables import Study
from arcadia_backend.doorbell import Bell, Doorbell
from arcadia_backend.errors import NotFound
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.studies import planning, queries, schemas, service
from arcadia_backend.studies.figures import importance_figure, parallel_figure, scatter_figure
from arcadia_backend.studies.planning import confirmation_reason
from arcadia_backend.studies.points import read_specification
from arcadia_backend.studies.results import load_points
from arcadia_backend.studies.specification import Specification
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import DEFAULT_TIMEOUT, PathId, Timeout, Wait, wait_while
from arcadia_workers.contract.values import Id

router = APIRouter(tags=["studies"])


@router.post("/studies/preview")
def preview_study(db: Db, settings: CurrentSettings, spec: Specification) -> schemas.Preview:
    """Return the size and the cost of a study without storing it."""
    with db.read() as session:
        _, cost, rejection = planning.validate_and_price(session, spec, settings.max_study_runs)
    confirm = confirmation_reason(cost.steps, cost.seconds, cost.unmeasured)
    refused = rejection.message if rejection else None
    return schemas.Preview.model_validate(
        {**vars(cost), "min_runs": spec.point_count * len(spec.seeds), "confirm": confirm, "refused": refused}
    )


@router.post("/studies", status_code=201)
def start_study(
    db: Db, bell: Bell, settings: CurrentSettings, once: Idempotent, start: schemas.StartStudy
) -> schemas.Study:
    """Store a study and queue its first runs. The others follow as these end.

    If the preview has a reason to confirm, send its total of steps as `confirm_steps`.
    """
    spec = start.specification
    with db.read() as session:
        draws = planning.confirmed_draws(session, spec, settings.max_study_runs, start.confirm_steps)
    with once.write(db) as session:
        study = service.start(session, spec, draws, start.project)
        _queue_next_runs(session, bell, study)
        return once.store(session, queries.to_schema(session, study))


@router.get("/studies")
def list_studies(
    db: Db,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[Id | None, Query(description="The next_cursor of the previous page.")] = None,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> schemas.StudyPage:
    """Return one page of studies, newest first."""
    with db.read() as session:
        return queries.list_studies(session, limit, before, project)


async def wait_for_study(
    request: Request, study_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the study is no longer running, if requested."""
    if wait is not None:
        await wait_while(lambda session: service.in_progress(session, study_id), request, timeout)


@router.get("/studies/{study_id}", dependencies=[Depends(wait_for_study)])
def read_study(db: Db, study_id: PathId) -> schemas.Study:
    """Return a study with its points and their results, immediately or once it is no longer running."""
    with db.read() as session:
        return queries.to_schema(session, service.find_study(session, study_id))


@router.get("/studies/{study_id}/figure")
def draw_study(
    db: Db,
    study_id: PathId,
    kind: Annotated[
        schemas.FigureKind,
        Query(
            description="scatter: returns along an axis; parallel: one line per point through all axes; "
            "importance: the share of the variance of returns that each axis explains alone."
        ),
    ] = "scatter",
    axis: Annotated[int, Query(ge=0, le=19, description="Index of the axis of a scatter figure, from 0.")] = 0,
) -> Figure:
    """Return the results of a study as a figure."""
    with db.read() as session:
        study = service.find_study(session, study_id)
        spec, points = read_specification(study), load_points(session, study)
    if kind != "scatter":
        return (parallel_figure if kind == "parallel" else importance_figure)(spec, points)
    if axis >= len(spec.axes):
        raise NotFound(f"Study {study_id} has no axis {axis}; it has {len(spec.axes)}, numbered from 0.")
    return scatter_figure(spec, points, axis)


@router.patch("/studies/{study_id}")
def edit_study(db: Db, study_id: PathId, changes: schemas.EditStudy) -> schemas.Study:
    """Change the name, the question or the project of a study."""
    with db.write() as session:
        study = service.find_study(session, study_id, lock=True)
        service.edit(session, study, changes)
        return queries.to_schema(session, study)


@router.delete("/studies/{study_id}", status_code=204)
def delete_study(db: Db, study_id: PathId) -> Response:
    """Delete a study that is not running. Its runs are kept."""
    with db.write() as session:
        service.delete(session, service.find_study(session, study_id, lock=True))
    return Response(status_code=204)


@router.post("/studies/{study_id}/pause")
def pause_study(db: Db, bell: Bell, study_id: PathId) -> schemas.Study:
    """Pause a study with its queued and active runs."""
    return _act(db, bell, study_id, "pause")


@router.post("/studies/{study_id}/resume")
def resume_study(db: Db, bell: Bell, study_id: PathId) -> schemas.Study:
    """Resume a study with its paused runs. Stopped runs stay stopped."""
    return _act(db, bell, study_id, "resume")


@router.post("/studies/{study_id}/stop")
def stop_study(db: Db, bell: Bell, study_id: PathId) -> schemas.Study:
    """Stop a study with all runs that have not ended."""
    return _act(db, bell, study_id, "stop")


@router.post("/studies/{study_id}/extend")
def extend_study(
    db: Db, bell: Bell, settings: CurrentSettings, once: Idempotent, study_id: PathId, extension: schemas.ExtendStudy
) -> schemas.Study:
    """Add seeds or random points, for example 3 seeds for each of the best 2 points.

    A stopped study continues, including its runs not created yet.
    """
    with once.write(db) as session:
        study = service.find_study(session, study_id, lock=True)
        service.extend(session, study, extension, settings.max_study_runs)
        _queue_next_runs(session, bell, study)
        return once.store(session, queries.to_schema(session, study))


def _act(db: Database, bell: Doorbell, study_id: int, action: schemas.SteerAction) -> schemas.Study:
    with db.write() as session:
        study = service.find_study(session, study_id, lock=True)
        for run in service.act(session, study, action):
            bell.ring_after_commit(session, run)
        _queue_next_runs(session, bell, study)
        return queries.to_schema(session, study)


def _queue_next_runs(session: Session, bell: Doorbell, study: Study) -> None:
    session.flush()
    for run in service.queue_next_runs(session, study):
        bell.ring_after_commit(session, run)
    session.flush()

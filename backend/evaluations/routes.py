"""/runs/…/evaluations and /evaluations: ask for, list, read, cancel, remove and export."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from backend.checkpoints.thinning import choose_anew
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.evaluations import schemas, service, view
from backend.evaluations.choices import EvaluationChoices, choices
from backend.evaluations.schedule import catch_up
from backend.evaluations.spreadsheet import episode_lines, evaluation_lines
from backend.jobs import service as jobs
from backend.web.csv_files import attached
from backend.web.lookup import PathId, PathRun, find_run

router = APIRouter(tags=["evaluations"])


@router.post("/runs/{run_id}/evaluations", status_code=201)
def ask_evaluation(db: Db, bell: Bell, run_id: PathId, wanted: schemas.AskEvaluation) -> schemas.EvaluationWithEpisodes:
    """Have a worker play episodes from a checkpoint of a run, beside what it trains."""
    with db.write() as session:
        # Locked, so that the checkpoint is not thinned out meanwhile.
        evaluation = service.ask(session, find_run(session, run_id, lock=True), wanted)
        evaluation, job = service.find_evaluation(session, evaluation.id)
        bell.ring_after_commit(session, job)
        return view.shown(session, evaluation, job)


@router.get("/runs/{run_id}/evaluations")
def list_evaluations(
    db: Db,
    run: PathRun,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> schemas.EvaluationPage:
    """A run's evaluations without their episodes, the latest asked for first."""
    with db.read() as session:
        return view.page(session, run, limit, cursor)


@router.get("/runs/{run_id}/evaluation-choices")
def list_evaluation_choices(db: Db, run: PathRun) -> EvaluationChoices:
    """How a run can be evaluated, and why it cannot otherwise."""
    with db.read() as session:
        return choices(session, run)


@router.get("/evaluations/{evaluation_id}")
def read_evaluation(db: Db, evaluation_id: PathId) -> schemas.EvaluationWithEpisodes:
    """An evaluation with its episodes."""
    with db.read() as session:
        return view.shown(session, *service.find_evaluation(session, evaluation_id))


@router.post("/evaluations/{evaluation_id}/cancel")
def cancel_evaluation(db: Db, evaluation_id: PathId) -> schemas.EvaluationWithEpisodes:
    """Cancel an evaluation that waits or is played."""
    with db.write() as session:
        evaluation, job = service.find_evaluation(session, evaluation_id, lock=True)
        jobs.cancel(session, job)
        catch_up(session, find_run(session, evaluation.run_id))
        return view.shown(session, evaluation, job)


@router.delete("/evaluations/{evaluation_id}", status_code=204)
def delete_evaluation(db: Db, evaluation_id: PathId) -> Response:
    """Remove an evaluation for good; one that is played ends. No checkpoint is deleted."""
    with db.write() as session:
        evaluation, job = service.find_evaluation(session, evaluation_id, lock=True)
        run = find_run(session, evaluation.run_id)
        jobs.remove(session, job)
        # Another checkpoint may be the best without it.
        choose_anew(session, run)
        catch_up(session, run)
    return Response(status_code=204)


@router.get("/export/evaluations/{evaluation_id}.csv", response_class=StreamingResponse)
def export_evaluation(db: Db, evaluation_id: PathId) -> StreamingResponse:
    """Every episode of an evaluation as CSV."""
    with db.read() as session:
        found = view.shown(session, *service.find_evaluation(session, evaluation_id))
    return attached(episode_lines(found), f"evaluation-{evaluation_id}.csv")


@router.get("/export/runs/{run_id}/evaluations.csv", response_class=StreamingResponse)
def export_evaluations(db: Db, run: PathRun) -> StreamingResponse:
    """Every evaluation of a run as CSV, in the order of its steps."""
    with db.read() as session:
        found = view.of_run(session, run)
    return attached(evaluation_lines(found), f"run-{run.id}-evaluations.csv")

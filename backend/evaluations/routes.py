"""Routes of evaluations: request, list, read, cancel, delete and export."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from backend.checkpoints.pruning import update_best
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.evaluations import queries, schemas, service
from backend.evaluations.choices import EvaluationChoices, choices
from backend.evaluations.csv_export import episode_lines, evaluation_lines
from backend.evaluations.schedule import catch_up_schedule
from backend.jobs import service as jobs
from backend.web.csv_files import attachment
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId, PathRun, find_run
from backend.web.waiting import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while

router = APIRouter(tags=["evaluations"])


@router.post("/runs/{run_id}/evaluations", status_code=201)
def create_evaluation(
    db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: schemas.EvaluationRequest
) -> schemas.EvaluationWithEpisodes:
    """Queue an evaluation of a checkpoint."""
    with once.write(db) as session:
        # Lock the run so that the checkpoint is not pruned in the meantime.
        evaluation = service.request_evaluation(session, find_run(session, run_id, lock=True), request)
        evaluation, job = service.find_evaluation(session, evaluation.id)
        bell.ring_after_commit(session, job)
        return once.store(session, queries.with_episodes(session, evaluation, job))


@router.get("/runs/{run_id}/evaluations")
def list_evaluations(
    db: Db,
    run: PathRun,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> schemas.EvaluationPage:
    """List the evaluations of a run without their episodes, newest first."""
    with db.read() as session:
        return queries.read_page(session, run, limit, cursor)


@router.get("/runs/{run_id}/evaluation-choices")
def list_evaluation_choices(db: Db, run: PathRun) -> EvaluationChoices:
    """List the protocols and ways to choose actions for an evaluation of the run."""
    with db.read() as session:
        return choices(session, run)


async def wait_for_evaluation(
    request: Request, evaluation_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the evaluation has ended, if requested."""
    if wait is not None:
        await wait_while(
            lambda session: job_in_progress(service.find_evaluation(session, evaluation_id)[1]), request, timeout
        )


@router.get("/evaluations/{evaluation_id}", dependencies=[Depends(wait_for_evaluation)])
def read_evaluation(db: Db, evaluation_id: PathId) -> schemas.EvaluationWithEpisodes:
    """Return an evaluation with its episodes, immediately or once it has ended."""
    with db.read() as session:
        return queries.with_episodes(session, *service.find_evaluation(session, evaluation_id))


@router.post("/evaluations/{evaluation_id}/cancel")
def cancel_evaluation(db: Db, evaluation_id: PathId) -> schemas.EvaluationWithEpisodes:
    """Cancel a queued or running evaluation."""
    with db.write() as session:
        evaluation, job = service.find_evaluation(session, evaluation_id, lock=True)
        jobs.cancel(session, job)
        catch_up_schedule(session, find_run(session, evaluation.run_id))
        return queries.with_episodes(session, evaluation, job)


@router.delete("/evaluations/{evaluation_id}", status_code=204)
def delete_evaluation(db: Db, evaluation_id: PathId) -> Response:
    """Permanently delete an evaluation. A running one is stopped. Its checkpoint stays."""
    with db.write() as session:
        evaluation, job = service.find_evaluation(session, evaluation_id, lock=True)
        run = find_run(session, evaluation.run_id)
        jobs.remove(session, job)
        # Without it another checkpoint may be the best.
        update_best(session, run)
        catch_up_schedule(session, run)
    return Response(status_code=204)


@router.get("/export/evaluations/{evaluation_id}.csv", response_class=StreamingResponse)
def export_evaluation(db: Db, evaluation_id: PathId) -> StreamingResponse:
    """Export the episodes of an evaluation as CSV."""
    with db.read() as session:
        found = queries.with_episodes(session, *service.find_evaluation(session, evaluation_id))
    return attachment(episode_lines(found), f"evaluation-{evaluation_id}.csv")


@router.get("/export/runs/{run_id}/evaluations.csv", response_class=StreamingResponse)
def export_evaluations(db: Db, run: PathRun) -> StreamingResponse:
    """Export all evaluations of a run as CSV, in order of their steps."""
    with db.read() as session:
        found = queries.list_by_step(session, run)
    return attachment(evaluation_lines(found), f"run-{run.id}-evaluations.csv")

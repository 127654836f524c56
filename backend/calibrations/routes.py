"""Routes of calibrations: request, list, read, cancel, delete and export."""

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from backend.calibrations import queries, schemas, service
from backend.calibrations.csv_export import calibration_lines, moment_lines
from backend.calibrations.schedule import catch_up_schedule
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.jobs import service as jobs
from backend.web.csv_files import attachment
from backend.web.idempotency import Idempotent
from backend.web.lookup import PathId, PathRun, find_run
from backend.web.waiting import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while

router = APIRouter(tags=["evaluations"])


@router.post("/runs/{run_id}/calibrations", status_code=201)
def create_calibration(
    db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: schemas.CalibrationRequest
) -> schemas.CalibrationWithDocument:
    """Queue a calibration of a checkpoint's critic."""
    with once.write(db) as session:
        # Lock the run so that the checkpoint is not pruned in the meantime.
        calibration = service.request_calibration(session, find_run(session, run_id, lock=True), request)
        calibration, job = service.find_calibration(session, calibration.id)
        bell.ring_after_commit(session, job)
        return once.store(session, queries.with_document(session, calibration, job))


@router.get("/runs/{run_id}/calibrations")
def list_calibrations(db: Db, run: PathRun) -> list[schemas.RunCalibration]:
    """List the calibrations of a run without their judged decisions, newest first."""
    with db.read() as session:
        return queries.list_calibrations(session, run)


async def wait_for_calibration(
    request: Request, calibration_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT
) -> None:
    """Wait until the calibration has ended, if requested."""
    if wait is not None:
        await wait_while(
            lambda session: job_in_progress(service.find_calibration(session, calibration_id)[1]), request, timeout
        )


@router.get("/calibrations/{calibration_id}", dependencies=[Depends(wait_for_calibration)])
def read_calibration(db: Db, calibration_id: PathId) -> schemas.CalibrationWithDocument:
    """Return a calibration with its judged decisions, immediately or once it has ended."""
    with db.read() as session:
        return queries.with_document(session, *service.find_calibration(session, calibration_id))


@router.post("/calibrations/{calibration_id}/cancel")
def cancel_calibration(db: Db, calibration_id: PathId) -> schemas.CalibrationWithDocument:
    """Cancel a queued or running calibration."""
    with db.write() as session:
        calibration, job = service.find_calibration(session, calibration_id, lock=True)
        jobs.cancel(session, job)
        catch_up_schedule(session, find_run(session, calibration.run_id))
        return queries.with_document(session, calibration, job)


@router.delete("/calibrations/{calibration_id}", status_code=204)
def delete_calibration(db: Db, calibration_id: PathId) -> Response:
    """Permanently delete a calibration. A running one is stopped. Its checkpoint stays."""
    with db.write() as session:
        calibration, job = service.find_calibration(session, calibration_id, lock=True)
        run = find_run(session, calibration.run_id)
        jobs.remove(session, job)
        catch_up_schedule(session, run)
    return Response(status_code=204)


@router.get("/export/calibrations/{calibration_id}.csv", response_class=StreamingResponse)
def export_calibration(db: Db, calibration_id: PathId) -> StreamingResponse:
    """Export the judged decisions of a calibration as CSV."""
    with db.read() as session:
        found = queries.with_document(session, *service.find_calibration(session, calibration_id))
    return attachment(moment_lines(found), f"calibration-{calibration_id}.csv")


@router.get("/export/runs/{run_id}/calibrations.csv", response_class=StreamingResponse)
def export_calibrations(db: Db, run: PathRun) -> StreamingResponse:
    """Export all calibrations of a run as CSV, in order of their steps."""
    with db.read() as session:
        found = sorted(queries.list_calibrations(session, run), key=lambda each: (each.step, each.id))
    return attachment(calibration_lines(found), f"run-{run.id}-calibrations.csv")

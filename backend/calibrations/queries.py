"""Queries of calibrations, as schemas of the API."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.calibrations import service
from backend.calibrations.schemas import CalibrationWithDocument, RunCalibration
from backend.checkpoints.superseded import superseded_ids
from backend.database.tables import Calibration, Job, Run
from backend.jobs.queue import JobQueue, read_queue
from backend.jobs.service import state_reason
from workers.contract.calibrations import CalibrationDocument


def list_calibrations(session: Session, run: Run) -> list[RunCalibration]:
    """Return all calibrations of a run, newest first."""
    query = select(Calibration, Job).join(Job, Job.id == Calibration.job_id).where(Calibration.run_id == run.id)
    rows = session.execute(query.order_by(Calibration.id.desc()))
    return _to_schemas(session, run.id, [(row[0], row[1]) for row in rows])


def with_document(session: Session, calibration: Calibration, job: Job) -> CalibrationWithDocument:
    """Return a calibration with its full result."""
    (one,) = _to_schemas(session, calibration.run_id, [(calibration, job)])
    found = calibration.document if job.state == "done" else None
    document = CalibrationDocument.model_validate(found) if found else None
    return CalibrationWithDocument(**one.model_dump(), document=document)


def _to_schemas(session: Session, run_id: int, rows: Sequence[tuple[Calibration, Job]]) -> list[RunCalibration]:
    queue = read_queue(session) if any(job.state == "queued" for _, job in rows) else None
    superseded = superseded_ids(session, run_id)
    return [
        _to_schema(calibration, job, queue, superseded=calibration.checkpoint_id in superseded)
        for calibration, job in rows
    ]


def _to_schema(calibration: Calibration, job: Job, queue: JobQueue | None, *, superseded: bool) -> RunCalibration:
    copied = ("id", "run_id", "origin", "checkpoint_id", "step", "frames", "protocol", "seed")
    of_job = ("state", "traceback", "worker", "created_at", "started_at", "finished_at")
    return RunCalibration.model_validate(
        calibration.options
        | {name: getattr(calibration, name) for name in copied}
        | {name: getattr(job, name) for name in of_job}
        | {
            # The result of an unfinished job may still be discarded.
            "errors": service.read_errors(calibration) if job.state == "done" else None,
            "reason": state_reason(job, queue),
            "superseded": superseded,
            "checkpoint_sha256": calibration.sha256,
            "moments_done": job.done,
            "moments_total": job.total,
        }
    )

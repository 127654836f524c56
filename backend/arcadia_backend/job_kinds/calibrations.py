"""Calibrations: comparisons of a checkpoint's values with the returns of simulated futures, by a job."""

from collections.abc import Container, Iterable, Iterator, Sequence

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.checkpoints.availability import CheckpointChoice, find_chosen
from arcadia_backend.checkpoints.routes import can_catch_up, find_due, has_room
from arcadia_backend.checkpoints.service import is_superseded, superseded_ids, usual_protocol_of
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Calibration, Checkpoint, Job, Origin, Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.jobs import (
    CheckpointJobFields,
    JobQueue,
    checkpoint_job_fields,
    document_job,
    find_with_job,
    read_queue,
)
from arcadia_backend.web.formats import attachment, csv_line
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, PathRun, find_run, refuse_without_agent
from arcadia_workers.contract.config.emulator import unfit_without_starts_because
from arcadia_workers.contract.futures import (
    CalibrationDocument,
    CalibrationErrors,
    CalibrationOptions,
    LossBounds,
)
from arcadia_workers.contract.jobs import CalibrationParameters
from arcadia_workers.contract.protocols import PROTOCOLS


class CalibrationRequest(CalibrationParameters):
    """Request to compare the critic of a checkpoint with simulated futures."""

    checkpoint: CheckpointChoice = "newest"


class RunCalibration(CheckpointJobFields):
    """A calibration of a checkpoint, with its state and, when done, its errors.

    NaN and infinity are strings.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    episodes: int
    every: int | None = Field(description="Every how many decisions one is judged. Null: chosen when it starts.")
    futures: int
    horizon: int
    measure_regret: bool = Field(default=True, description="Whether the regret is measured.")
    moments_done: int = Field(description="Judged decisions.")
    moments_total: int = Field(description="Decisions to judge. 0 until the episodes have been played.")
    errors: CalibrationErrors | None = Field(description="Null until it is done.")


class CalibrationWithDocument(RunCalibration):
    """A calibration with all judged decisions."""

    document: CalibrationDocument | None = Field(description="The full result. Null until it is done.")


MOMENT_COLUMNS = (
    *("episode", "decision", "value", "mean_return", "interval_low", "interval_high"),
    *("standard_error", "regret_at_least", "regret_at_most", "bootstrap_weight"),
)
CALIBRATION_COLUMNS = (
    *("calibration", "state", "superseded", "step", "frames", "protocol", "seed"),
    *("episodes", "every", "futures", "horizon", "moments"),
    *("bias", "bias_low", "bias_high", "bootstrap_weight", "rmse"),
    *("correlation", "correlation_low", "correlation_high", "skill", "skill_low", "skill_high"),
    *("regret_at_least", "regret_at_most", "regret_low", "regret_high"),
    *("checkpoint_sha256", "finished_at"),
)


def moment_lines(calibration: CalibrationWithDocument) -> Iterator[str]:
    """Return the CSV lines of all judged decisions. Raise Conflict if the calibration is not done."""
    if calibration.document is None:
        raise Conflict("The calibration is not done, so it has no judged decisions yet.")
    rows = (
        (
            *(
                each.episode,
                each.decision,
                each.value,
                each.mean,
                *(each.interval or (None, None)),
                each.standard_error,
            ),
            *_bounds(each.regret),
            each.bootstrap_weight,
        )
        for each in calibration.document.moments
    )
    return (csv_line(row) for row in (MOMENT_COLUMNS, *rows))


def calibration_lines(calibrations: Iterable[RunCalibration]) -> Iterator[str]:
    """Yield the CSV lines of calibrations with their results."""
    yield csv_line(CALIBRATION_COLUMNS)
    for each in calibrations:
        row = each.model_dump() | _error_columns(each.errors)
        row |= {"calibration": each.id, "moments": each.moments_total}
        row |= {"superseded": "true" if each.superseded else "false"}
        row |= {"finished_at": each.finished_at and each.finished_at.isoformat()}
        yield csv_line([row.get(column) for column in CALIBRATION_COLUMNS])


def _error_columns(errors: CalibrationErrors | None) -> dict[str, float | None]:
    """Return the columns of errors, with one for each end of an interval."""
    if errors is None:
        return {}
    columns = errors.model_dump(include={"bias", "bootstrap_weight", "rmse", "correlation", "skill"})
    columns["regret_at_least"], columns["regret_at_most"] = _bounds(errors.regret)
    intervals = {name: getattr(errors, f"{name}_interval") for name in ("bias", "correlation", "skill")}
    intervals["regret"] = errors.regret.interval if errors.regret else None
    for name, interval in intervals.items():
        columns[f"{name}_low"], columns[f"{name}_high"] = interval or (None, None)
    return columns


def _bounds(regret: LossBounds | None) -> tuple[float | None, float | None]:
    return (regret.at_least, regret.at_most) if regret else (None, None)


def request_calibration(session: Session, run: Run, request: CalibrationRequest) -> Calibration:
    """Queue the requested calibration. The caller has locked the run, so the checkpoint is not pruned."""
    refuse_without_agent(run, "calibrate the critic of")
    protocol = usual_protocol_of(run) if request.protocol is None else request.protocol
    if (reason := unfit_without_starts_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=reason))
    checkpoint = find_chosen(session, run, request.checkpoint)
    jobs.check_room(session, run, "calibration")
    parameters = CalibrationParameters(**request.model_dump(exclude={"checkpoint", "protocol"}), protocol=protocol)
    return add_calibration(session, run, checkpoint, parameters, "asked")


def add_calibration(
    session: Session, run: Run, checkpoint: Checkpoint, parameters: CalibrationParameters, origin: Origin
) -> Calibration:
    """Create a calibration and queue its job. The job finds out how many decisions it judges."""
    job = jobs.enqueue(session, run, checkpoint, "calibration", parameters, total=0)
    calibration = Calibration(
        **jobs.checkpoint_columns(job, run, checkpoint),
        origin=origin,
        options=parameters.model_dump(mode="json", include=set(CalibrationOptions.model_fields)),
    )
    session.add(calibration)
    session.flush()
    return calibration


def find_calibration(session: Session, calibration_id: int, *, lock: bool = False) -> tuple[Calibration, Job]:
    """Return a calibration and its job. Raise NotFound if it does not exist. With `lock`, lock its run first."""
    return find_with_job(session, Calibration, calibration_id, lock=lock)


def cancel_calibration(session: Session, calibration: Calibration, job: Job) -> None:
    """Cancel a calibration."""
    jobs.cancel(session, job)
    catch_up_schedule(session, find_run(session, calibration.run_id))


def delete_calibration(session: Session, calibration: Calibration, job: Job) -> None:
    """Delete a calibration."""
    jobs.remove(session, job)
    catch_up_schedule(session, find_run(session, calibration.run_id))


def list_finished_calibrations(
    session: Session, runs: Iterable[Run]
) -> dict[int, list[tuple[Calibration, CalibrationErrors]]]:
    """Return for each run its finished calibrations that are not superseded, in order of their steps."""
    query = select(Calibration).join(Job, Job.id == Calibration.job_id)
    query = query.join(Checkpoint, Checkpoint.id == Calibration.checkpoint_id).where(~is_superseded())
    # The result of an unfinished job may still be discarded.
    found: dict[int, list[tuple[Calibration, CalibrationErrors]]] = {run.id: [] for run in runs}
    query = query.where(Calibration.run_id.in_(found), Job.state == "done").order_by(Calibration.step, Calibration.id)
    for row in session.scalars(query):
        if (errors := read_errors(row)) is not None:
            found[row.run_id].append((row, errors))
    return found


def read_errors(calibration: Calibration) -> CalibrationErrors | None:
    """Return the errors in a calibration's result, or None if it has no result."""
    if (document := calibration.document) is None:
        return None
    return CalibrationErrors.model_validate(
        {name: document[name] for name in CalibrationErrors.model_fields if name in document}
    )


def load_calibrations(session: Session, run: Run) -> list[RunCalibration]:
    """Return all calibrations of a run, newest first."""
    query = select(Calibration, Job).join(Job, Job.id == Calibration.job_id).where(Calibration.run_id == run.id)
    rows = session.execute(query.order_by(Calibration.id.desc()))
    return _to_schemas(session, run.id, [(row[0], row[1]) for row in rows])


def with_document(session: Session, calibration: Calibration, job: Job) -> CalibrationWithDocument:
    """Return a calibration with its full result."""
    (one,) = _to_schemas(session, calibration.run_id, [(calibration, job)])
    stored = calibration.document if job.state == "done" else None
    document = CalibrationDocument.model_validate(stored) if stored else None
    return CalibrationWithDocument(**one.model_dump(), document=document)


def _to_schemas(session: Session, run_id: int, rows: Sequence[tuple[Calibration, Job]]) -> list[RunCalibration]:
    queue = read_queue(session, (job for _, job in rows))
    superseded = superseded_ids(session, run_id)
    return [_to_schema(calibration, job, queue, superseded) for calibration, job in rows]


def _to_schema(
    calibration: Calibration, job: Job, queue: JobQueue | None, superseded: Container[int]
) -> RunCalibration:
    return RunCalibration.model_validate(
        calibration.options
        | checkpoint_job_fields(calibration, job, queue, superseded)
        | {
            # The result of an unfinished job may still be discarded.
            "errors": read_errors(calibration) if job.state == "done" else None,
            "moments_done": job.done,
            "moments_total": job.total,
        }
    )


def schedule_calibration(session: Session, run: Run) -> None:
    """Request a calibration of the newest checkpoint if one is due."""
    every = run.config.get("calibrate_every_steps", 0)
    checkpoint = find_due(session, run, every, _last_scheduled(session, run)) if every else None
    protocol = usual_protocol_of(run)
    # The protocol may be of a plug-in that is missing.
    if checkpoint is None or protocol not in PROTOCOLS or not has_room(session, run, Calibration):
        return
    parameters = CalibrationParameters(protocol=protocol, seed=1, measure_regret=False)
    add_calibration(session, run, checkpoint, parameters, "schedule")


def catch_up_schedule(session: Session, run: Run) -> None:
    """Request the calibration that was skipped because too many others were unfinished, if there is room now."""
    if can_catch_up(session, run, Calibration):
        schedule_calibration(session, run)


def _last_scheduled(session: Session, run: Run) -> int:
    """Return the step of the last scheduled calibration that is not superseded."""
    query = select(func.max(Calibration.step)).join(Checkpoint, Checkpoint.id == Calibration.checkpoint_id)
    of_run = (Calibration.run_id == run.id, Calibration.origin == "schedule", ~is_superseded())
    return session.scalar(query.where(*of_run)) or 0


router = APIRouter(tags=["evaluations"])
JOB = document_job("calibration", Calibration, router)
add_job_routes(
    JOB,
    CalibrationWithDocument,
    with_document,
    cancel=cancel_calibration,
    cancel_text="Cancel a queued or running calibration.",
    delete=delete_calibration,
    delete_text="Permanently delete a calibration. A running one is stopped. Its checkpoint stays.",
)


@router.post("/runs/{run_id}/calibrations", status_code=201)
def create_calibration(
    db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: CalibrationRequest
) -> CalibrationWithDocument:
    """Queue a calibration of a checkpoint's critic."""
    with once.write(db) as session:
        # Lock the run so that the checkpoint is not pruned in the meantime.
        calibration = request_calibration(session, find_run(session, run_id, lock=True), request)
        calibration, job = find_calibration(session, calibration.id)
        bell.ring_after_commit(session, job)
        return once.store(session, with_document(session, calibration, job))


@router.get("/runs/{run_id}/calibrations")
def list_calibrations(db: Db, run: PathRun) -> list[RunCalibration]:
    """List the calibrations of a run without their judged decisions, newest first."""
    with db.read() as session:
        return load_calibrations(session, run)


@router.get("/export/calibrations/{calibration_id}.csv", response_class=StreamingResponse)
def export_calibration(db: Db, calibration_id: PathId) -> StreamingResponse:
    """Export the judged decisions of a calibration as CSV."""
    with db.read() as session:
        calibration = with_document(session, *find_calibration(session, calibration_id))
    return attachment(moment_lines(calibration), f"calibration-{calibration_id}.csv")


@router.get("/export/runs/{run_id}/calibrations.csv", response_class=StreamingResponse)
def export_calibrations(db: Db, run: PathRun) -> StreamingResponse:
    """Export all calibrations of a run as CSV, in order of their steps."""
    with db.read() as session:
        calibrations = sorted(load_calibrations(session, run), key=lambda each: (each.step, each.id))
    return attachment(calibration_lines(calibrations), f"run-{run.id}-calibrations.csv")

"""Calibrations: request one, and store its result. Every function runs in the caller's transaction."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.calibrations.schemas import CalibrationRequest
from backend.checkpoints.choice import find_chosen
from backend.checkpoints.playing import usual_protocol_of
from backend.checkpoints.superseded import is_superseded
from backend.database.tables import Calibration, Checkpoint, Job, Origin, Run
from backend.errors import FieldError, Invalid, NotFound
from backend.jobs import service as jobs
from backend.jobs.results import find_with_job, row_of_job, to_stored
from backend.web.lookup import refuse_without_agent
from workers.contract import events as ev
from workers.contract.calibrations import CalibrationErrors, CalibrationOptions
from workers.contract.config.evaluation import unfit_without_starts_because
from workers.contract.jobs import CalibrationParameters

# Limit unfinished calibrations of a run.
MAX_UNFINISHED = 20


def request_calibration(session: Session, run: Run, request: CalibrationRequest) -> Calibration:
    """Queue the requested calibration. The caller has locked the run, so the checkpoint is not pruned."""
    refuse_without_agent(run, "calibrate the critic of")
    protocol = usual_protocol_of(run) if request.protocol is None else request.protocol
    if (reason := unfit_without_starts_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=reason))
    checkpoint = find_chosen(session, run, request.checkpoint)
    jobs.check_room(session, run, "calibration", MAX_UNFINISHED, "unfinished calibrations")
    options = request.model_dump(include=set(CalibrationOptions.model_fields))
    parameters = CalibrationParameters(**options, protocol=protocol, seed=request.seed)
    return create_calibration(session, run, checkpoint, parameters, "asked")


def create_calibration(
    session: Session, run: Run, checkpoint: Checkpoint, parameters: CalibrationParameters, origin: Origin
) -> Calibration:
    """Create a calibration and queue its job. The job finds out how many decisions it judges."""
    job = jobs.enqueue(session, run, checkpoint, "calibration", parameters.model_dump(mode="json"), total=0)
    calibration = Calibration(
        run_id=run.id,
        job_id=job.id,
        checkpoint_id=checkpoint.id,
        step=checkpoint.step,
        frames=checkpoint.frames,
        sha256=checkpoint.sha256,
        protocol=parameters.protocol,
        seed=parameters.seed,
        origin=origin,
        options=parameters.model_dump(mode="json", include=set(CalibrationOptions.model_fields)),
    )
    session.add(calibration)
    session.flush()
    return calibration


def find_calibration(session: Session, calibration_id: int, *, lock: bool = False) -> tuple[Calibration, Job]:
    """Return a calibration and its job. Raise NotFound if it does not exist. With `lock`, lock its run first."""
    found = find_with_job(session, Calibration, calibration_id, lock=lock)
    if found is None:
        raise NotFound(f"There is no calibration {calibration_id}.")
    return found


def list_finished(session: Session, run: Run) -> list[tuple[Calibration, CalibrationErrors]]:
    """Return the finished calibrations of a run that are not superseded, in order of their steps."""
    query = select(Calibration).join(Job, Job.id == Calibration.job_id)
    query = query.join(Checkpoint, Checkpoint.id == Calibration.checkpoint_id).where(~is_superseded())
    # The result of an unfinished job may still be discarded.
    query = query.where(Calibration.run_id == run.id, Job.state == "done").order_by(Calibration.step, Calibration.id)
    return [(row, errors) for row in session.scalars(query) if (errors := read_errors(row)) is not None]


def read_errors(calibration: Calibration) -> CalibrationErrors | None:
    """Return the errors in a calibration's result, or None if it has no result."""
    if (document := calibration.document) is None:
        return None
    return CalibrationErrors.model_validate(
        {name: document[name] for name in CalibrationErrors.model_fields if name in document}
    )


def advance(_session: Session, job: Job, event: ev.Advanced) -> None:
    """Store the progress of a calibration."""
    job.done, job.total = event.done, event.total


def store_result(session: Session, job: Job, event: ev.CalibrationEvent) -> None:
    """Store the result of a calibration."""
    row_of_job(session, Calibration, job).document = to_stored(event.document)


def discard_result(session: Session, job: Job) -> None:
    """Delete the result of an earlier attempt."""
    row_of_job(session, Calibration, job).document = None


def has_result(session: Session, job: Job) -> bool:
    """Return True if the calibration has a result."""
    return row_of_job(session, Calibration, job).document is not None

"""Scheduled calibrations of a run: of the first checkpoint at or after each multiple of its interval."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.calibrations.service import create_calibration
from backend.checkpoints.playing import usual_protocol_of
from backend.checkpoints.schedule import can_catch_up, find_due, has_room
from backend.checkpoints.superseded import is_superseded
from backend.database.tables import Calibration, Checkpoint, Run
from workers.contract.jobs import CalibrationParameters
from workers.contract.protocols import PROTOCOLS


def schedule_calibration(session: Session, run: Run) -> None:
    """Request a calibration of the newest checkpoint if one is due."""
    every = run.config.get("calibrate_every_steps", 0)
    checkpoint = find_due(session, run, every, _last_scheduled(session, run)) if every else None
    protocol = usual_protocol_of(run)
    # The protocol may be of a plug-in that is missing.
    if checkpoint is None or protocol not in PROTOCOLS or not has_room(session, run, Calibration):
        return
    parameters = CalibrationParameters(protocol=protocol, seed=1, measure_regret=False)
    create_calibration(session, run, checkpoint, parameters, "schedule")


def catch_up_schedule(session: Session, run: Run) -> None:
    """Request the calibration that was skipped because too many others were unfinished, if there is room now."""
    if can_catch_up(session, run, Calibration):
        schedule_calibration(session, run)


def _last_scheduled(session: Session, run: Run) -> int:
    """Return the step of the last scheduled calibration that is not superseded."""
    query = select(func.max(Calibration.step)).join(Checkpoint, Checkpoint.id == Calibration.checkpoint_id)
    of_run = (Calibration.run_id == run.id, Calibration.origin == "schedule", ~is_superseded())
    return session.scalar(query.where(*of_run)) or 0

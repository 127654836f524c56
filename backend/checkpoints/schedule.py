"""Rules that the schedules of evaluations and of calibrations share."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.service import list_resumable
from backend.database.tables import Calibration, Checkpoint, Evaluation, Job, Run
from backend.jobs.service import UNFINISHED
from backend.web.lookup import last_started_attempt

# Limit unfinished scheduled evaluations of a run, and its calibrations, since each protects a checkpoint from pruning.
MAX_SCHEDULED = 10


def find_due(session: Session, run: Run, every: int, last_step: int) -> Checkpoint | None:
    """Return the newest checkpoint if it is due, or None.

    The first checkpoint at or after each multiple of `every` steps is due. `last_step` is the step of the last
    scheduled checkpoint.
    """
    newest = next(iter(list_resumable(session, run)), None)
    if newest is None or newest.step // every <= max(last_step, run.parent_step or 0) // every:
        return None
    return newest


def has_room(session: Session, run: Run, table: type[Evaluation] | type[Calibration]) -> bool:
    """Return True if a schedule may add an evaluation or a calibration of a run."""
    return _count_scheduled(session, run, table) < MAX_SCHEDULED


def can_catch_up(session: Session, run: Run, table: type[Evaluation] | type[Calibration]) -> bool:
    """Return True if a schedule has just dropped below its limit and the run's last attempt has started."""
    is_below = _count_scheduled(session, run, table) == MAX_SCHEDULED - 1
    return is_below and last_started_attempt(session, run) is not None


def _count_scheduled(session: Session, run: Run, table: type[Evaluation] | type[Calibration]) -> int:
    """Return the number of unfinished scheduled evaluations or calibrations of a run."""
    query = select(func.count()).select_from(table).join(Job, Job.id == table.job_id)
    by_schedule = (table.run_id == run.id, table.origin == "schedule")
    return session.scalar(query.where(*by_schedule, Job.state.in_(UNFINISHED))) or 0

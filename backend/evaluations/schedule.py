"""Scheduled evaluations of a run: of the first checkpoint at or after each multiple of its interval."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.playing import usual_acting_of, usual_protocol_of
from backend.checkpoints.schedule import can_catch_up, find_due, has_room
from backend.checkpoints.superseded import is_superseded
from backend.database.tables import Checkpoint, Evaluation, Run
from backend.evaluations.service import create_evaluation
from backend.recordings.service import record_scheduled
from workers.contract.jobs import EvaluationParameters
from workers.contract.protocols import PROTOCOLS


def schedule_evaluation(session: Session, run: Run) -> None:
    """Request an evaluation of the newest checkpoint if one is due."""
    every = run.config.get("evaluate_every_steps", 0)
    checkpoint = find_due(session, run, every, _last_scheduled(session, run)) if every else None
    if checkpoint is None or not has_room(session, run, Evaluation):
        return
    protocol, acting = usual_protocol_of(run), usual_acting_of(run)
    if protocol not in PROTOCOLS:  # of a plug-in that is missing
        return
    episodes = PROTOCOLS[protocol].episodes
    how = EvaluationParameters(protocol=protocol, acting=acting, seed=1, episodes=episodes)
    checkpoint.scheduled = True
    record_scheduled(session, run, create_evaluation(session, run, checkpoint, how, "schedule"))


def catch_up_schedule(session: Session, run: Run) -> None:
    """Request the evaluation that was skipped because too many others were unfinished, if there is room now.

    This way the last checkpoint of a run is evaluated too, even if the workers are behind.
    """
    if can_catch_up(session, run, Evaluation):
        schedule_evaluation(session, run)


def _last_scheduled(session: Session, run: Run) -> int:
    """Return the step of the last scheduled checkpoint that is not superseded."""
    current = (Checkpoint.run_id == run.id, ~is_superseded())
    query = select(func.max(Checkpoint.step)).where(*current, Checkpoint.scheduled)
    return session.scalar(query) or 0

"""Evaluations that a run's schedule asks for: of the first checkpoint at or after each multiple of its interval."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.keeping import resumable
from backend.checkpoints.superseded import superseded
from backend.database.tables import Checkpoint, Evaluation, Job, Run
from backend.evaluations.service import add
from backend.jobs import service as jobs
from backend.recordings.service import follow
from backend.web.lookup import last_started_attempt
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.evaluation import protocol_of
from workers.contract.jobs import EvaluationParameters
from workers.contract.protocols import PROTOCOLS

# A schedule that is ahead of the workers by so many asks for no more, since each keeps a checkpoint.
MOST_WAITING = 10


def keep_schedule(session: Session, run: Run) -> None:
    """Have the newest checkpoint evaluated if it is due."""
    every = run.config.get("evaluate_every_steps", 0)
    checkpoint = next(iter(resumable(session, run)), None)
    if not every or checkpoint is None:
        return
    last = max(_last_scheduled(session, run), run.parent_step or 0)
    if checkpoint.step // every <= last // every or _waiting(session, run) >= MOST_WAITING:
        return
    protocol, acting = protocol_of(run.config), CONFIGURATIONS[run.algorithm].usual_acting
    episodes = PROTOCOLS[protocol].episodes
    how = EvaluationParameters(protocol=protocol, acting=acting, seed=1, episodes=episodes)
    checkpoint.scheduled = True
    follow(session, run, add(session, run, checkpoint, how, "schedule"))


def catch_up(session: Session, run: Run) -> None:
    """Have the newest checkpoint evaluated if too many others waited when it came, and one of them is done or gone now.

    So the last checkpoint of a run is evaluated too, however far its workers are behind.
    """
    if last_started_attempt(session, run) is not None and _waiting(session, run) == MOST_WAITING - 1:
        keep_schedule(session, run)


def _last_scheduled(session: Session, run: Run) -> int:
    """The step of the last checkpoint that the schedule chose, but for those that the run went back behind."""
    in_line = (Checkpoint.run_id == run.id, ~superseded())
    query = select(func.max(Checkpoint.step)).where(*in_line, Checkpoint.scheduled)
    return session.scalar(query) or 0


def _waiting(session: Session, run: Run) -> int:
    query = select(func.count()).select_from(Evaluation).join(Job, Job.id == Evaluation.job_id)
    by_schedule = (Evaluation.run_id == run.id, Evaluation.origin == "schedule")
    return session.scalar(query.where(*by_schedule, Job.state.in_(jobs.UNFINISHED))) or 0

"""Live games of agents. A request for a game in progress joins it."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.choice import find_chosen
from backend.checkpoints.service import list_resumable
from backend.config import Settings
from backend.database.tables import Checkpoint, Job, Run
from backend.errors import Conflict, NotFound
from backend.jobs import service as jobs
from backend.jobs.queue import LIVE_GAMES, read_queue
from backend.live_games.schemas import AskLive, LiveGame
from backend.web.lookup import find_job, refuse_without_agent
from workers.contract.live import LiveParameters
from workers.contract.worker_api import JobKind


def start_live(session: Session, settings: Settings, run: Run, wanted: AskLive) -> Job:
    """Return the job of the run's live game of a checkpoint. Start one if none is in progress.

    The caller holds the lock of the run.
    """
    refuse_without_agent(run, "play")
    follows = wanted.checkpoint == "newest"
    checkpoint = find_chosen(session, run, wanted.checkpoint)
    unfinished = [job for job in _of_run(session, run) if job.state in jobs.UNFINISHED]
    for job in unfinished:
        same = job.parameters == {"follows": True} if follows else job.checkpoint_id == checkpoint.id
        if same and job.parameters["follows"] == follows and job.desired == "run":
            return job
    check_capacity(session, settings)
    # Finished games are not kept.
    jobs.remove_ended(session, run, "live")
    parameters = LiveParameters(follows=follows)
    return jobs.enqueue(session, run, checkpoint, "live", parameters.model_dump(mode="json"), total=1)


def find_live_job(session: Session, number: int, *kinds: JobKind, lock: bool = False) -> Job:
    """Return the job of a live game, or raise NotFound. With `lock`, lock its run first, if it has one."""
    if session.scalar(select(Job.kind).where(Job.id == number)) not in kinds:
        raise NotFound(f"There is no live game {number}.")
    return find_job(session, number, lock=lock)


def to_schema(session: Session, job: Job) -> LiveGame:
    """Return a live game as the API shows it."""
    queue = read_queue(session) if job.state == "queued" else None
    same = ("id", "run_id", "state", "traceback", "checkpoint_id", "worker", "created_at", "started_at")
    return LiveGame.model_validate(
        {name: getattr(job, name) for name in same}
        | {
            "reason": jobs.state_reason(job, queue),
            "step": session.get_one(Checkpoint, job.checkpoint_id).step,
            "follows": LiveParameters.model_validate(job.parameters).follows,
        }
    )


def list_unfinished(session: Session, run: Run) -> list[LiveGame]:
    """Return the unfinished live games of a run."""
    return [to_schema(session, job) for job in _of_run(session, run) if job.state in jobs.UNFINISHED]


def find_newer(session: Session, job: Job, than: int | None) -> Checkpoint | None:
    """Return the run's newest checkpoint if the game follows the run and does not play it yet, or None."""
    if job.kind != "live" or not LiveParameters.model_validate(job.parameters).follows:
        return None
    newest = next(iter(list_resumable(session, session.get_one(Run, job.run_id))), None)
    return newest if newest is not None and newest.id != than else None


def _of_run(session: Session, run: Run) -> Sequence[Job]:
    query = select(Job).where(Job.run_id == run.id, Job.kind == "live").order_by(Job.id)
    return session.scalars(query).all()


def check_capacity(session: Session, settings: Settings) -> None:
    """Raise Conflict if no more live games are allowed. Games of agents and of people both count."""
    query = select(func.count()).where(Job.kind.in_(LIVE_GAMES), Job.state.in_(jobs.UNFINISHED))
    if (session.scalar(query) or 0) >= settings.max_live_games:
        raise Conflict(
            f"The limit of live games ({settings.max_live_games}, ARCADIA_MAX_LIVE_GAMES) is reached. "
            "Watch one of them, or wait until one is over."
        )

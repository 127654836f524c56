"""Live games as users ask for them; a user who asks for one that is being played joins it."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.checkpoints.choice import find_chosen
from backend.checkpoints.service import list_resumable
from backend.config import Settings
from backend.database.tables import Checkpoint, Job, Run
from backend.errors import Conflict, NotFound
from backend.jobs import service as jobs
from backend.jobs.queue import INTERACTIVE, read_queue
from backend.live_games.schemas import AskLive, LiveGame
from backend.web.lookup import find_job
from workers.contract.live import LiveParameters
from workers.contract.worker_api import JobKind


def ask(session: Session, settings: Settings, run: Run, wanted: AskLive) -> Job:
    """The run's live game of that checkpoint, begun if there is none; the run is locked."""
    follows = wanted.checkpoint == "newest"
    checkpoint = find_chosen(session, run, wanted.checkpoint)
    under_way = [job for job in _of_run(session, run) if job.state in jobs.UNFINISHED]
    for job in under_way:
        same = job.parameters == {"follows": True} if follows else job.checkpoint_id == checkpoint.id
        if same and job.parameters["follows"] == follows and job.desired == "run":
            return job
    check_room(session, settings)
    _forget_ended(session, run)
    told = LiveParameters(follows=follows)
    return jobs.enqueue(session, run, checkpoint, "live", told.model_dump(mode="json"), total=1)


def find_shown(session: Session, number: int, *kinds: JobKind, lock: bool = False) -> Job:
    """A game's job, or a problem that says there is none; a locked one has its run locked first, if it has one."""
    if session.scalar(select(Job.kind).where(Job.id == number)) not in kinds:
        raise NotFound(f"There is no live game {number}.")
    return find_job(session, number, lock=lock)


def shown(session: Session, job: Job) -> LiveGame:
    """A live game as the API shows it."""
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


def of_run(session: Session, run: Run) -> list[LiveGame]:
    """A run's live games that are under way."""
    return [shown(session, job) for job in _of_run(session, run) if job.state in jobs.UNFINISHED]


def newer(session: Session, job: Job, than: int | None) -> Checkpoint | None:
    """The run's newest checkpoint, if it is another than the one that is played and the game follows the run."""
    if job.kind != "live" or not LiveParameters.model_validate(job.parameters).follows:
        return None
    newest = next(iter(list_resumable(session, session.get_one(Run, job.run_id))), None)
    return newest if newest is not None and newest.id != than else None


def _of_run(session: Session, run: Run) -> Sequence[Job]:
    query = select(Job).where(Job.run_id == run.id, Job.kind == "live").order_by(Job.id)
    return session.scalars(query).all()


def check_room(session: Session, settings: Settings) -> None:
    """Refuse one live game more than are allowed; games of agents and of people count alike."""
    query = select(func.count()).where(Job.kind.in_(INTERACTIVE), Job.state.in_(jobs.UNFINISHED))
    if (session.scalar(query) or 0) >= settings.max_live_games:
        one = settings.max_live_games == 1
        games = "live game is being played or waits" if one else "live games are being played or wait"
        raise Conflict(
            f"{settings.max_live_games} {games} for a worker already, the most allowed here "
            "(ARCADIA_MAX_LIVE_GAMES). Watch one of them, or wait until one is over."
        )


def _forget_ended(session: Session, run: Run) -> None:
    """Remove the run's earlier live games: nothing is kept of them."""
    for job in _of_run(session, run):
        if job.state not in jobs.UNFINISHED:
            jobs.remove(session, job)

"""Live games played by people. Each is a job without a run."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.tables import Job
from backend.errors import NotFound
from backend.games.catalog import find_game
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.live_games.schemas import PlayedGame
from backend.live_games.service import check_capacity, find_live_job
from workers.contract.live import PlayParameters


def start_play(session: Session, settings: Settings, slug: str) -> Job:
    """Queue a game for people to play, and delete finished ones."""
    check_capacity(session, settings)
    parameters = PlayParameters(env=find_game(slug).id).model_dump(mode="json")
    for earlier in _of_people(session):
        # Finished games are not kept.
        if earlier.parameters == parameters and earlier.state not in jobs.UNFINISHED:
            jobs.remove(session, earlier)
    return jobs.enqueue(session, None, None, "play", parameters, total=1)


def find_play(session: Session, slug: str, number: int, *, lock: bool = False) -> Job:
    """Return the job of a game that people play, or raise NotFound."""
    job = find_live_job(session, number, "play", lock=lock)
    if job.parameters["env"] != find_game(slug).id:
        raise NotFound(f"Live game {number} plays {job.parameters['env']}, not this game.")
    return job


def to_schema(session: Session, job: Job) -> PlayedGame:
    """Return a game that people play as the API shows it."""
    queue = read_queue(session) if job.state == "queued" else None
    same = ("id", "state", "traceback", "worker", "created_at", "started_at")
    columns = {name: getattr(job, name) for name in same}
    return PlayedGame.model_validate(columns | {"env": job.parameters["env"], "reason": jobs.state_reason(job, queue)})


def _of_people(session: Session) -> Sequence[Job]:
    return session.scalars(select(Job).where(Job.kind == "play").order_by(Job.id)).all()

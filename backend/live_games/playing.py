"""Games that people play, as users ask for them: each is a job of no run."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.tables import Job
from backend.errors import NotFound
from backend.games.catalogue import find_game
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.live_games.schemas import PlayedGame
from backend.live_games.service import check_room, find_shown
from workers.contract.live import PlayParameters


def ask(session: Session, settings: Settings, slug: str) -> Job:
    """Begin a game that people play."""
    check_room(session, settings)
    told = PlayParameters(env=find_game(slug).id).model_dump(mode="json")
    for earlier in _of_people(session):
        # Nothing is kept of them.
        if earlier.parameters == told and earlier.state not in jobs.UNFINISHED:
            jobs.remove(session, earlier)
    return jobs.enqueue(session, None, None, "play", told, total=1)


def find_play(session: Session, slug: str, number: int, *, lock: bool = False) -> Job:
    """The job of a game that people play, or a problem that says there is none."""
    job = find_shown(session, number, "play", lock=lock)
    if job.parameters["env"] != find_game(slug).id:
        raise NotFound(f"Live game {number} is of {job.parameters['env']}.")
    return job


def shown(session: Session, job: Job) -> PlayedGame:
    """A game that people play, as the API shows it."""
    queue = read_queue(session) if job.state == "queued" else None
    same = ("id", "state", "traceback", "worker", "created_at", "started_at")
    told = {name: getattr(job, name) for name in same}
    return PlayedGame.model_validate(told | {"env": job.parameters["env"], "reason": jobs.state_reason(job, queue)})


def _of_people(session: Session) -> Sequence[Job]:
    return session.scalars(select(Job).where(Job.kind == "play").order_by(Job.id)).all()

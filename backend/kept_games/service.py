"""Kept games: taken from the process that a person played in, filmed, turned into start points, removed."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from backend.config import Settings
from backend.database.tables import Job, KeptGame, StartSet
from backend.errors import Conflict, NotFound
from backend.files.service import Maker, reported_file
from backend.jobs import service as jobs
from backend.jobs.queue import JobQueue, read_queue
from backend.kept_games import schemas
from backend.start_sets import service as start_points
from backend.web.lookup import find_job
from workers.contract import events as ev
from workers.contract.games import ENVIRONMENTS
from workers.contract.jobs import FilmParameters
from workers.contract.live import PlayParameters
from workers.contract.protocols.starts import Start, StartSetFile, before

# Of one game; each has a film.
MOST_KEPT = 100


def keep(session: Session, job: Job, event: ev.GameKept) -> None:
    """Keep a game, and have it filmed; more than are kept are refused with a sentence on its page."""
    env = PlayParameters.model_validate(job.parameters).env
    if (session.scalar(select(func.count()).where(KeptGame.env == env)) or 0) >= MOST_KEPT:
        title = ENVIRONMENTS[env].title
        job.message = f"{MOST_KEPT} games of {title} are kept, the most. Remove one, and keep this one again."
        return
    which = FilmParameters(
        env=env, seed=event.seed, actions=event.actions, played=event.played, score=event.score
    ).model_dump(mode="json")
    film = jobs.enqueue(session, None, None, "film", which, total=event.played)
    session.add(
        KeptGame(
            env=env,
            job_id=film.id,
            seed=event.seed,
            actions=which["actions"],
            frames=event.played,
            score=event.score,
            ended=event.ended,
            emulator=event.emulator,
            screens=[list(each) for each in event.screens],
            start_points=len(event.screens),
        )
    )


def keep_film(session: Session, job: Job, event: ev.Film) -> None:
    """Note the files of a kept game's film."""
    made_by, kept = Maker(None, job.attempt, job.id), _filmed_by(session, job)
    kept.file_id = reported_file(session, made_by, event.file).id
    kept.poster_file_id = reported_file(session, made_by, event.poster).id


def has_film(session: Session, job: Job) -> bool:
    """Whether the job has brought a film."""
    return _filmed_by(session, job).file_id is not None


def discard_film(session: Session, job: Job) -> None:
    """Forget the film of an earlier attempt, whose files are gone."""
    kept = _filmed_by(session, job)
    kept.file_id = kept.poster_file_id = None


def find_kept(session: Session, number: int, *, whole: bool = False) -> KeptGame:
    """A kept game by its number, or a problem that says there is none; its play is read where it is wanted."""
    query = select(KeptGame).where(KeptGame.id == number)
    found = session.scalar(query.options(undefer(KeptGame.actions), undefer(KeptGame.screens)) if whole else query)
    if found is None:
        raise NotFound(f"There is no kept game {number}.")
    return found


def listed(session: Session, env: str | None) -> list[schemas.KeptGame]:
    """The kept games, of one game where it is given, the newest first."""
    query = select(KeptGame, Job).join(Job, Job.id == KeptGame.job_id).order_by(KeptGame.id.desc())
    rows = session.execute(query.where(KeptGame.env == env) if env is not None else query).all()
    queue = read_queue(session) if any(film.state == "queued" for _, film in rows) else None
    return [_shown(kept, film, queue) for kept, film in rows]


def shown(session: Session, kept: KeptGame) -> schemas.KeptGame:
    """A kept game as the API shows it."""
    film = session.get_one(Job, kept.job_id)
    return _shown(kept, film, read_queue(session) if film.state == "queued" else None)


def remove(session: Session, kept: KeptGame) -> None:
    """Remove a kept game with its film; start points that were made of it stay."""
    film = find_job(session, kept.job_id, lock=True)
    session.delete(kept)
    session.flush()
    jobs.remove(session, film)


def start_points_of(settings: Settings, kept: KeptGame, name: str) -> StartSet:
    """Make human-starts of points spread over a kept game, or refuse what could not be imported again."""
    if len(kept.screens) < ev.MOST_SCREENS:
        raise Conflict(
            f"A game of {kept.frames:,} frames is too short for {ev.MOST_SCREENS} start points: keep a longer one."
        )
    actions = [(action, frames) for action, frames in kept.actions]
    starts = tuple(
        Start(seed=kept.seed, actions=before(actions, frame), screen=screen) for frame, screen in kept.screens
    )
    source = f"Game {kept.id}, played here on {kept.created_at:%Y-%m-%d}"
    points = StartSetFile(env=kept.env, player="human", source=source, emulator=kept.emulator, starts=starts)
    stored = start_points.build_start_set(name, points)
    if stored.bytes > settings.max_body_bytes:
        raise Conflict(
            f"The {ev.MOST_SCREENS} start points of this game take {stored.bytes:,} bytes, and a set may have "
            f"{settings.max_body_bytes:,} (ARCADIA_MAX_BODY_BYTES): keep a game that is shorter, or in which keys are "
            "pressed less often."
        )
    return stored


def best_score(session: Session, env: str) -> tuple[float, int] | None:
    """The best score of a person's kept games that came to an end, and how many there are."""
    ended = select(KeptGame.score).where(KeptGame.env == env, KeptGame.ended != "unfinished")
    scores: Sequence[float] = session.scalars(ended).all()
    return (max(scores), len(scores)) if scores else None


def _filmed_by(session: Session, job: Job) -> KeptGame:
    return session.scalars(select(KeptGame).where(KeptGame.job_id == job.id)).one()


def _shown(kept: KeptGame, film: Job, queue: JobQueue | None) -> schemas.KeptGame:
    same = ("id", "env", "score", "frames", "ended", "start_points", "created_at", "file_id", "poster_file_id")
    told = {name: getattr(kept, name) for name in same}
    told |= {"film": film.state, "reason": jobs.state_reason(film, queue), "traceback": film.traceback}
    return schemas.KeptGame.model_validate(told)

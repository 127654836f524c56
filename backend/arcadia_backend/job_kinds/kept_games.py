"""Kept games: games that people played and saved, with a video, start points and scores."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from arcadia_backend import jobs
from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import MAIN_ID, Job, Replay, Run
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.files.service import Maker, find_reported
from arcadia_backend.job_kinds import start_sets as start_points
from arcadia_backend.job_kinds.start_sets import Name, StartSet
from arcadia_backend.jobs import JobQueue, JobType, read_queue
from arcadia_backend.projects.schemas import MayEdit
from arcadia_backend.projects.service import require_editor
from arcadia_backend.web.formats import JsonNumber
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, find_job
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.games import ENVIRONMENTS, EnvironmentId
from arcadia_workers.contract.jobs import FilmParameters
from arcadia_workers.contract.live import KeptActions, PlayParameters
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.starts import StartSetFile, starts_at
from arcadia_workers.contract.values import Id
from arcadia_workers.contract.worker_api import JobState


class ContinuedGame(BaseModel):
    """The part of a kept game that follows a decision of a replay."""

    replay_id: int | None = Field(description="Null if the replay was deleted.")
    decision: int
    score: JsonNumber = Field(description="Score from the decision on.")
    frames: int = Field(description="Frames from the decision on.")
    agent_frames: int = Field(description="How many of these frames the agent played.")


class KeptGame(BaseModel):
    """A game that a person played and saved, with the state of its video."""

    id: int
    project: str
    env: str
    score: JsonNumber
    frames: int
    ended: Literal["over", "cut off", "unfinished"] = Field(description="`unfinished` if it was kept before its end.")
    continued: ContinuedGame | None = Field(description="Null if it was played from the start of the game.")
    start_points: int = Field(description="The number of start points that can be made from it.")
    why_no_start_points: str | None = Field(description="Why they cannot be made, or null if they can.")
    created_at: datetime
    film: JobState
    reason: str | None = Field(description="Why the video is missing.")
    traceback: str | None = Field(description="The traceback if the video failed because of a bug.")
    file_id: int | None = Field(description="The mp4 file of the video. Null until it is ready.")
    poster_file_id: int | None
    may_edit: MayEdit


# Per game and project, because each has a video.
MAX_KEPT_GAMES = 100


def keep(session: Session, job: Job, event: ev.GameKept) -> None:
    """Store a game and queue its video. If the limit is reached, set a message that its page shows."""
    parameters = PlayParameters.model_validate(job.parameters)
    env, origin, continued = parameters.env, parameters.origin, event.continued
    # The run of the replay may have moved since the job was queued.
    project_id = session.scalar(select(Run.project_id).where(Run.id == job.run_id)) or job.project_id or MAIN_ID
    of_game = (tables.KeptGame.env == env, tables.KeptGame.project_id == project_id)
    if (session.scalar(select(func.count()).where(*of_game)) or 0) >= MAX_KEPT_GAMES:
        job.message = (
            f"{MAX_KEPT_GAMES} games of {ENVIRONMENTS[env].title} are kept in this project, which is the limit. "
            "Delete one, then keep this game again."
        )
        return
    which = FilmParameters(
        env=env,
        seed=event.seed,
        actions=event.actions,
        played=event.played,
        score=event.score,
        skipped=continued.frames if continued else 0,
        repeat_action_probability=PROTOCOLS[origin.protocol].repeat_action_probability if origin else 0.0,
    )
    film = jobs.enqueue(session, None, None, "film", which, event.played, project_id)
    session.add(
        tables.KeptGame(
            project_id=project_id,
            env=env,
            job_id=film.id,
            seed=event.seed,
            actions=film.parameters["actions"],
            frames=event.played,
            score=event.score,
            ended=event.ended,
            emulator=event.emulator,
            screens=[list(each) for each in event.screens],
            start_points=len(event.screens),
            # The replay may have been deleted during the game.
            replay_id=origin and session.scalar(select(Replay.id).where(Replay.id == origin.replay_id)),
            decision=origin and origin.decision,
            score_before=continued and event.score - continued.score,
            frames_before=continued and continued.frames,
            agent_frames=continued and continued.agent_frames,
        )
    )


def keep_film(session: Session, job: Job, event: ev.Film) -> None:
    """Store the files of a kept game's video."""
    made_by, kept = Maker(None, job.attempt, job.id), _filmed_by(session, job)
    kept.file_id = find_reported(session, made_by, event.file).id
    kept.poster_file_id = find_reported(session, made_by, event.poster).id


def has_film(session: Session, job: Job) -> bool:
    """Return True if the job has produced a video."""
    return _filmed_by(session, job).file_id is not None


def discard_film(session: Session, job: Job) -> None:
    """Clear the video of an earlier attempt, whose files are deleted."""
    kept = _filmed_by(session, job)
    kept.file_id = kept.poster_file_id = None


def find_kept(session: Session, number: int, *, whole: bool = False) -> tables.KeptGame:
    """Return a kept game, with its actions and screens if `whole`. Raise NotFound if it does not exist."""
    query = select(tables.KeptGame).where(tables.KeptGame.id == number)
    kept = session.scalar(
        query.options(undefer(tables.KeptGame.actions), undefer(tables.KeptGame.screens)) if whole else query
    )
    if kept is None:
        raise NotFound(f"Kept game {number} does not exist.")
    return kept


def list_kept(session: Session, env: str | None, replay_id: int | None = None) -> list[KeptGame]:
    """Return the kept games, newest first. Filter by environment and by the continued replay if these are given."""
    query = select(tables.KeptGame, Job).join(Job, Job.id == tables.KeptGame.job_id).order_by(tables.KeptGame.id.desc())
    query = query if env is None else query.where(tables.KeptGame.env == env)
    rows = session.execute(query if replay_id is None else query.where(tables.KeptGame.replay_id == replay_id)).all()
    queue = read_queue(session, (film for _, film in rows))
    return [_to_schema(kept, film, queue) for kept, film in rows]


def to_schema(session: Session, kept: tables.KeptGame) -> KeptGame:
    """Convert a kept game to its API schema."""
    film = session.get_one(Job, kept.job_id)
    return _to_schema(kept, film, read_queue(session, [film]))


def delete(session: Session, kept: tables.KeptGame) -> None:
    """Delete a kept game with its video and its review. Start sets made from it stay."""
    require_editor(session, "kept_games", kept.id)
    reviewing = select(tables.Review.job_id).where(tables.Review.kept_game_id == kept.id)
    # An agent of another project may have reviewed it.
    with backend_rights(session):
        for job_id in session.scalars(reviewing).all():
            jobs.remove(session, find_job(session, job_id, lock=True))
    film = find_job(session, kept.job_id, lock=True)
    session.delete(kept)
    session.flush()
    jobs.remove(session, film)


def why_no_start_points(kept: tables.KeptGame) -> str | None:
    """Return why a kept game has no start points, or None if it has."""
    if kept.decision is not None:
        return "This game continues a replay of an agent. Save start points from the replay instead."
    if kept.start_points < ev.MOST_SCREENS:
        return f"A game of {kept.frames:,} frames is too short for {ev.MOST_SCREENS} start points. Keep a longer game."
    return None


def actions_of(kept: tables.KeptGame) -> KeptActions:
    """Return the seed and the actions of a kept game, for a review. Raise Conflict if an agent has played a part."""
    if kept.decision is not None:
        raise Conflict("This game continues a replay of an agent. Review the replay instead.")
    return KeptActions(
        env=kept.env,
        seed=kept.seed,
        actions=[(action, frames) for action, frames in kept.actions],
        played=kept.frames,
        score=kept.score,
    )


def make_start_set(settings: Settings, kept: tables.KeptGame, name: str) -> tables.StartSet:
    """Make a start set from a kept game. Raise Conflict if the set could not be imported again."""
    if (reason := why_no_start_points(kept)) is not None:
        raise Conflict(reason)
    actions = [(action, frames) for action, frames in kept.actions]
    starts = starts_at(kept.seed, actions, kept.screens)
    source = f"Game {kept.id}, played here on {kept.created_at:%Y-%m-%d}"
    points = StartSetFile(env=kept.env, player="human", source=source, emulator=kept.emulator, starts=starts)
    stored = start_points.build_start_set(name, points, kept.project_id)
    if stored.bytes > settings.max_body_bytes:
        raise Conflict(
            f"The {ev.MOST_SCREENS} start points of this game take {stored.bytes:,} bytes, more than the limit of "
            f"{settings.max_body_bytes:,} (ARCADIA_MAX_BODY_BYTES). Keep a shorter game, or one with fewer key presses."
        )
    return stored


def best_score(session: Session, env: str) -> tuple[float, int] | None:
    """Return the best score among finished kept games and their number, or None.

    Games that continue a replay do not count, since an agent has played a part of them.
    """
    ended = select(tables.KeptGame.score).where(
        tables.KeptGame.env == env, tables.KeptGame.ended != "unfinished", tables.KeptGame.decision.is_(None)
    )
    scores: Sequence[float] = session.scalars(ended).all()
    return (max(scores), len(scores)) if scores else None


def _filmed_by(session: Session, job: Job) -> tables.KeptGame:
    return session.scalars(select(tables.KeptGame).where(tables.KeptGame.job_id == job.id)).one()


def _to_schema(kept: tables.KeptGame, film: Job, queue: JobQueue | None) -> KeptGame:
    own = KeptGame.model_fields.keys() - {"continued", "why_no_start_points", "film", "reason", "traceback"}
    fields = {name: getattr(kept, name) for name in own}
    fields |= {"continued": _continued(kept), "why_no_start_points": why_no_start_points(kept)}
    fields |= {"film": film.state, "reason": jobs.state_reason(film, queue), "traceback": film.traceback}
    return KeptGame.model_validate(fields)


def _continued(kept: tables.KeptGame) -> ContinuedGame | None:
    """Return how a kept game continues a replay, or None if it does not."""
    before, frames, by_agent = kept.score_before, kept.frames_before, kept.agent_frames
    if kept.decision is None or before is None or frames is None or by_agent is None:
        return None
    return ContinuedGame(
        replay_id=kept.replay_id,
        decision=kept.decision,
        score=kept.score - before,
        frames=kept.frames - frames,
        agent_frames=by_agent,
    )


router = APIRouter(tags=["live"])
# A game of an agent has no result. That of a person may be kept.
LIVE_JOB = JobType("live")
PLAY_JOB = JobType("play", handlers={ev.GameKept: keep})
FILM_JOB = JobType("film", router, {ev.Film: keep_film}, has_film, discard_film)


@router.get("/kept-games")
def list_kept_games(
    db: Db,
    env: Annotated[
        EnvironmentId | None, Query(description="Return only games of this environment, such as ALE/Pong-v5.")
    ] = None,
    replay_id: Annotated[Id | None, Query(description="Return only games that continue this replay.")] = None,
) -> list[KeptGame]:
    """List kept games, newest first."""
    with db.read() as session:
        return list_kept(session, env, replay_id)


@router.get("/kept-games/{kept_id}")
def read_kept_game(db: Db, kept_id: PathId) -> KeptGame:
    """Return a kept game with the state of its video."""
    with db.read() as session:
        return to_schema(session, find_kept(session, kept_id))


@router.get("/kept-games/{kept_id}/actions")
def read_actions(db: Db, kept_id: PathId) -> KeptActions:
    """Return the seed and the actions of a kept game, for `arcadia review --kept-game FILE`."""
    with db.read() as session:
        return actions_of(find_kept(session, kept_id, whole=True))


@router.post("/kept-games/{kept_id}/start-points", status_code=201)
def keep_start_points(
    db: Db,
    settings: CurrentSettings,
    once: Idempotent,
    kept_id: PathId,
    name: Annotated[Name, Query(description="The name of the start set.")],
) -> StartSet:
    """Store 100 points, spread evenly over a kept game, as a start set for human-starts."""
    with db.read() as session:
        kept = find_kept(session, kept_id, whole=True)
    # A long game takes seconds, so this is outside the write transaction.
    stored = make_start_set(settings, kept, name)
    with once.write(db) as session:
        return once.store(session, start_points.to_schema(start_points.store(session, stored)))


@router.delete("/kept-games/{kept_id}", status_code=204)
def delete_kept_game(db: Db, kept_id: PathId) -> Response:
    """Permanently delete a kept game and its video. Start sets made from it stay."""
    with db.write() as session:
        delete(session, find_kept(session, kept_id))
    return Response(status_code=204)

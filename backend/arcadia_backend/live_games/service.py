"""Live games of agents and of people: schemas, requests, and people who continue a replay."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.checkpoints.availability import CheckpointChoice, find_chosen
from arcadia_backend.checkpoints.service import list_resumable
from arcadia_backend.config import Settings
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import Checkpoint, Job, Run
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.games.service import find_game
from arcadia_backend.jobs import read_queue
from arcadia_backend.projects.service import resolve
from arcadia_backend.replays.players import (
    check_decision,
    episode_of,
    find_player,
    read_track,
    refuse,
    why_person_cannot_play,
)
from arcadia_backend.replays.service import find_replay
from arcadia_backend.web.lookup import find_job, find_run, refuse_without_agent
from arcadia_workers.contract.jobs import LIVE_GAMES, JobKind
from arcadia_workers.contract.live import LiveParameters, PlayParameters, ReplayOrigin
from arcadia_workers.contract.values import SmallCount
from arcadia_workers.contract.worker_api import JobState


class AskLive(BaseModel):
    """A request to play a run's agent in real time."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = Field(
        default="newest", description="With `newest`, the game switches to each newer checkpoint while it continues."
    )


class ContinueReplay(BaseModel):
    """A request to continue a replay as a person."""

    model_config = ConfigDict(extra="forbid")

    decision: SmallCount = Field(description="The decision to continue from, counted from 0.")


class LiveGame(BaseModel):
    """A live game with the state of its job. Watch it at the WebSocket /api/v1/live/{id}."""

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="Why the job waits, restarts or failed, as a sentence.")
    traceback: str | None = Field(description="Traceback of a failure that is a bug.")
    checkpoint_id: int = Field(description="The checkpoint that the game started with.")
    step: int = Field(description="Step of that checkpoint.")
    follows: bool = Field(description="Whether the game switches to newer checkpoints.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None


class PlayedGame(BaseModel):
    """A game that people play, with the state of its job. Play it at the WebSocket /api/v1/live/{id}."""

    id: int
    env: str
    replay_id: int | None = Field(description="The replay that it continues. Null if it begins at its own start.")
    run_id: int | None = Field(description="The run of the replay.")
    decision: int | None = Field(description="The decision of the replay at which it begins.")
    state: JobState
    reason: str | None = Field(description="Why the job waits, restarts or failed, as a sentence.")
    traceback: str | None = Field(description="Traceback of a failure that is a bug.")
    worker: str | None
    created_at: datetime
    started_at: datetime | None


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
    return jobs.enqueue(session, run, checkpoint, "live", parameters, total=1)


def find_live_job(session: Session, number: int, *kinds: JobKind, lock: bool = False) -> Job:
    """Return the job of a live game, or raise NotFound. With `lock`, lock its run first, if it has one."""
    if session.scalar(select(Job.kind).where(Job.id == number)) not in kinds:
        raise NotFound(f"There is no live game {number}.")
    return find_job(session, number, lock=lock)


def to_schema(session: Session, job: Job) -> LiveGame:
    """Return a live game as the API shows it."""
    queue = read_queue(session, [job])
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
    with backend_rights(session):
        unfinished = session.scalar(query) or 0
    if unfinished >= settings.max_live_games:
        raise Conflict(
            f"The limit of live games ({settings.max_live_games}, ARCADIA_MAX_LIVE_GAMES) is reached. "
            "Watch one of them, or wait until one is over."
        )


def start_play(session: Session, settings: Settings, slug: str, project: str | None) -> Job:
    """Queue a game for people of a project to play, and delete finished ones."""
    project_id = resolve(session, project)
    check_capacity(session, settings)
    parameters = PlayParameters(env=find_game(slug).id)
    # Finished games are not kept.
    query = select(Job).where(Job.kind == "play", Job.project_id == project_id, Job.state.not_in(jobs.UNFINISHED))
    for ended in session.scalars(query.order_by(Job.id)).all():
        if PlayParameters.model_validate(ended.parameters) == parameters:
            jobs.remove(session, ended)
    return jobs.enqueue(session, None, None, "play", parameters, 1, project_id)


def continue_replay(session: Session, settings: Settings, replay_id: int, decision: int) -> Job:
    """Queue a game in which a person continues a replay from a decision, and delete finished ones of its run."""
    replay = find_replay(session, replay_id, lock=True)
    run = find_run(session, replay.run_id)
    refuse_without_agent(run, "play")
    track = read_track(session, replay)
    check_decision(track, decision)
    refuse(why_person_cannot_play(track.head))
    checkpoint = find_player(session, run, track)
    check_capacity(session, settings)
    jobs.remove_ended(session, run, "play")
    origin = ReplayOrigin(
        replay_id=replay.id,
        decision=decision,
        **episode_of(track, decision),
        score=float(track.columns["score"][decision]),
    )
    parameters = PlayParameters(env=run.env, origin=origin)
    return jobs.enqueue(session, run, checkpoint, "play", parameters, total=1)


def find_continuation(session: Session, replay_id: int, number: int, *, lock: bool = False) -> Job:
    """Return the job of a game that continues a replay, or raise NotFound."""
    job = find_live_job(session, number, "play", lock=lock)
    origin = PlayParameters.model_validate(job.parameters).origin
    if origin is None or origin.replay_id != replay_id:
        raise NotFound(f"Live game {number} does not continue replay {replay_id}.")
    return job


def find_play(session: Session, slug: str, number: int, *, lock: bool = False) -> Job:
    """Return the job of a game that people play, or raise NotFound."""
    job = find_live_job(session, number, "play", lock=lock)
    if job.parameters["env"] != find_game(slug).id:
        raise NotFound(f"Live game {number} plays {job.parameters['env']}, not this game.")
    if job.run_id is not None:
        raise NotFound(f"Live game {number} continues a replay.")
    return job


def played_to_schema(session: Session, job: Job) -> PlayedGame:
    """Return a game that people play as the API shows it."""
    queue = read_queue(session, [job])
    same = ("id", "run_id", "state", "traceback", "worker", "created_at", "started_at")
    columns = {name: getattr(job, name) for name in same}
    parameters = PlayParameters.model_validate(job.parameters)
    origin = parameters.origin
    return PlayedGame.model_validate(
        columns
        | {
            "env": parameters.env,
            "replay_id": origin and origin.replay_id,
            "decision": origin and origin.decision,
            "reason": jobs.state_reason(job, queue),
        }
    )

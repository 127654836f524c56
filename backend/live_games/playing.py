"""Live games played by people. Each is a job, with a run only if it continues a replay."""

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
from backend.replays.players import check_decision, find_player, read_track, refuse, why_person_cannot_play
from backend.replays.service import find_replay
from backend.web.lookup import find_run, refuse_without_agent
from workers.contract.live import PlayParameters, ReplayOrigin


def start_play(session: Session, settings: Settings, slug: str) -> Job:
    """Queue a game for people to play, and delete finished ones."""
    check_capacity(session, settings)
    parameters = PlayParameters(env=find_game(slug).id).model_dump(mode="json", exclude_none=True)
    # Finished games are not kept.
    query = select(Job).where(Job.kind == "play", Job.run_id.is_(None), Job.state.not_in(jobs.UNFINISHED))
    for ended in session.scalars(query.order_by(Job.id)).all():
        if ended.parameters == parameters:
            jobs.remove(session, ended)
    return jobs.enqueue(session, None, None, "play", parameters, total=1)


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
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"][:decision].tolist(),
        score=float(track.columns["score"][decision]),
    )
    parameters = PlayParameters(env=run.env, origin=origin).model_dump(mode="json")
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


def to_schema(session: Session, job: Job) -> PlayedGame:
    """Return a game that people play as the API shows it."""
    queue = read_queue(session) if job.state == "queued" else None
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

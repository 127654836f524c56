"""Start sets from decisions of replays. A job repeats the episode. Every function runs in the caller's transaction."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.tables import Job, Replay, StartSet
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.replays.players import action_set, check_decision, read_track
from backend.replays.service import find_replay
from backend.start_sets import service
from backend.start_sets.schemas import SavedStartPoints, SaveStartPoints
from backend.web.lookup import find_run, refuse_without_agent
from workers.contract import events as ev
from workers.contract.games import ENVIRONMENTS
from workers.contract.jobs import StartPointsParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.starts import StartSetFile, starts_at
from workers.contract.tracks import Track

MAX_WAITING_JOBS = 10


def request(session: Session, settings: Settings, replay_id: int, wanted: SaveStartPoints) -> Job:
    """Queue the repetition of a replay that saves start points, and delete finished ones of its run."""
    replay = find_replay(session, replay_id, lock=True)
    run = find_run(session, replay.run_id)
    refuse_without_agent(run, "save start points from a replay of")
    if not ENVIRONMENTS[run.env].family.has_start_points:
        raise Conflict(f"Episodes of {ENVIRONMENTS[run.env].title} cannot begin at start points, only Atari games.")
    track = read_track(session, replay)
    if track.head.numbers_kind == "gaussian":
        raise Conflict("Start points need a replay with discrete actions. Choose another one.")
    _check_protocol(track)
    decisions = _decisions(track, wanted)
    service.check_room(session, run.env, wanted.name)
    jobs.check_room(session, run, "start_points", MAX_WAITING_JOBS, "sets")
    # Their sets stay.
    jobs.remove_ended(session, run, "start_points")
    last = decisions[-1]
    parameters = StartPointsParameters(
        replay_id=replay.id,
        name=wanted.name,
        source=_source(replay, track, wanted),
        env=run.env,
        action_set=action_set(run),
        frames_per_action=track.head.frames_per_action,
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"][:last].tolist(),
        decisions=decisions,
        score=float(track.columns["score"][last]),
        max_bytes=settings.max_body_bytes,
    )
    return jobs.enqueue(session, run, None, "start_points", parameters.model_dump(mode="json"), len(decisions))


def find(session: Session, replay_id: int, number: int) -> Job:
    """Return the job that saves start points of a replay, or raise NotFound."""
    job = session.get(Job, number)
    if job is None or job.kind != "start_points" or _parameters(job).replay_id != replay_id:
        raise NotFound(f"Request {number} does not save start points of replay {replay_id}.")
    return job


def to_schema(session: Session, job: Job) -> SavedStartPoints:
    """Return the state of saving as the API shows it."""
    queue = read_queue(session) if job.state == "queued" else None
    stored, parameters = _stored(session, job), _parameters(job)
    fields = {name: getattr(job, name) for name in ("id", "state", "traceback", "done", "total")}
    fields |= {"replay_id": parameters.replay_id, "name": parameters.name, "start_set_id": stored and stored.id}
    return SavedStartPoints.model_validate(fields | {"reason": jobs.state_reason(job, queue)})


def keep(session: Session, job: Job, event: ev.StartPointsEvent) -> None:
    """Store the start set. If that is impossible, set a message, and the job fails with it.

    The worker has refused a large set, whose points would take seconds here.
    """
    if _stored(session, job) is not None:
        return
    which = _parameters(job)
    starts = starts_at(event.seed, event.actions, event.screens)
    points = StartSetFile(env=which.env, player="agent", source=which.source, emulator=event.emulator, starts=starts)
    try:
        with session.begin_nested():
            service.store(session, service.build_start_set(which.name, points))
    except Conflict as error:
        job.message = error.detail


def has_result(session: Session, job: Job) -> bool:
    """Return True if the start set is stored."""
    return _stored(session, job) is not None


def _stored(session: Session, job: Job) -> StartSet | None:
    # Equal sources have equal points, and the name is unique.
    which = _parameters(job)
    same = (StartSet.env == which.env, StartSet.name == which.name, StartSet.source == which.source)
    return session.scalar(select(StartSet).where(*same))


def _parameters(job: Job) -> StartPointsParameters:
    return StartPointsParameters.model_validate(job.parameters)


def _check_protocol(track: Track) -> None:
    protocol = PROTOCOLS[track.head.protocol]
    if protocol.repeat_action_probability:
        raise Conflict(
            f"The emulator repeated actions at random in this replay ({protocol.name}), so its actions do not lead to "
            "the same screens from a start point. Choose a replay without sticky actions."
        )


def _decisions(track: Track, wanted: SaveStartPoints) -> list[int]:
    """Return the decisions to save, in ascending order. Raise Invalid if there are too many."""
    check_decision(track, wanted.decision)
    if wanted.every is None:
        return [wanted.decision]
    found = [*range(wanted.decision % wanted.every, len(track), wanted.every)]
    if len(found) > ev.MOST_SCREENS:
        smallest, limit = -(-len(track) // ev.MOST_SCREENS), ev.MOST_SCREENS
        message = f"this gives {len(found)} start points, and at most {limit} can be saved: use {smallest} or more"
        raise Invalid(FieldError(field="every", message=message))
    return found


def _source(replay: Replay, track: Track, wanted: SaveStartPoints) -> str:
    """Return who played which decisions. They are counted from 1, as on the page."""
    head, number = track.head, wanted.decision + 1
    which = f"decision {number}" if wanted.every is None else f"decision {number} and every {wanted.every} from it"
    return (
        f"{head.algorithm} of run {replay.run_id} at step {head.checkpoint_step:,}, {which} of replay {replay.id} "
        f"by {head.protocol} with seed {head.seed}, episode {head.episode}"
    )

"""Requesting, reading and storing saliency. Every function runs in the caller's transaction."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import File, Job, Replay
from backend.errors import NotFound
from backend.files.service import Maker, find_reported
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.replays.players import find_player, read_track, refuse, why_no_saliency
from backend.replays.pruning import prune_replays
from backend.replays.service import find_replay
from backend.saliency.schemas import ReplaySaliency
from backend.web.lookup import find_run, refuse_without_agent
from workers.contract import events as ev
from workers.contract.jobs import SaliencyParameters

MAX_WAITING_JOBS = 10


def request(session: Session, replay_id: int) -> tuple[Replay, Job]:
    """Queue the saliency of a replay, unless it exists or is in progress."""
    replay = find_replay(session, replay_id, lock=True)
    run, before = find_run(session, replay.run_id), _job_of(session, replay)
    if before is not None and before.state in (*jobs.UNFINISHED, "done"):
        return replay, before
    refuse_without_agent(run, "compute the saliency of a replay of")
    refuse(why_no_saliency(run.env))
    track = read_track(session, replay)
    checkpoint = find_player(session, run, track)
    jobs.check_room(session, run, "saliency", MAX_WAITING_JOBS, "saliency jobs")
    if before is not None:
        jobs.remove(session, before)
    parameters = SaliencyParameters(
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"].tolist(),
        score=track.head.score,
    )
    job = jobs.enqueue(session, run, checkpoint, "saliency", parameters.model_dump(mode="json"), total=len(track))
    replay.saliency_job_id = job.id
    session.flush()
    return replay, job


def find(session: Session, replay_id: int, *, lock: bool = False) -> tuple[Replay, Job]:
    """Return a replay with its saliency job. Raise NotFound if none was requested."""
    replay = find_replay(session, replay_id, lock=lock)
    job = _job_of(session, replay)
    if job is None:
        raise NotFound(f"Replay {replay_id} has no saliency. Request it first.")
    return replay, job


def to_schema(session: Session, replay: Replay, job: Job) -> ReplaySaliency:
    """Convert the state of a replay's saliency to its API schema."""
    queue = read_queue(session) if job.state == "queued" else None
    file = _file(session, job) if job.state == "done" else None
    same = ("state", "traceback", "done", "total", "created_at", "finished_at")
    fields = {name: getattr(job, name) for name in same}
    fields |= {"replay_id": replay.id, "run_id": replay.run_id, "file_id": file.id if file else None}
    return ReplaySaliency.model_validate(fields | {"reason": jobs.state_reason(job, queue)})


def find_file(session: Session, replay_id: int) -> File:
    """Return the saliency file of a replay. Raise NotFound if it is not ready."""
    _, job = find(session, replay_id)
    file = _file(session, job)
    if file is None or job.state != "done":
        raise NotFound(f"The saliency of replay {replay_id} is not ready. Its state is {job.state}.")
    return file


def keep(session: Session, job: Job, event: ev.SaliencyEvent) -> None:
    """Check that the result file has arrived. It is found by its job."""
    find_reported(session, Maker(job.require_run_id(), job.attempt, job.id), event.file)
    replay = session.scalars(select(Replay).where(Replay.saliency_job_id == job.id)).one()
    prune_replays(session, find_run(session, job.require_run_id()), replay)


def has_arrived(session: Session, job: Job) -> bool:
    """Return True if the job has produced a result."""
    return _file(session, job) is not None


def _job_of(session: Session, replay: Replay) -> Job | None:
    return session.get(Job, replay.saliency_job_id) if replay.saliency_job_id else None


def _file(session: Session, job: Job) -> File | None:
    query = select(File).where(File.job_id == job.id, File.kind == "saliency", File.attempt == job.attempt)
    return session.scalar(query)

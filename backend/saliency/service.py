"""Saliency as users ask for it; every function works inside the caller's transaction."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Checkpoint, File, Job, Replay, Run
from backend.errors import Conflict, NotFound
from backend.files.service import Maker, files_root, reported_file
from backend.files.storage import place_of
from backend.jobs import service as jobs
from backend.jobs.queue import read_queue
from backend.replays.service import find_replay, find_track
from backend.replays.thinning import thin_out
from backend.saliency.schemas import ReplaySaliency
from backend.web.lookup import find_run
from workers.contract import events as ev
from workers.contract import tracks
from workers.contract.games import ENVIRONMENTS
from workers.contract.jobs import SaliencyParameters
from workers.contract.tracks import Track

MOST_WAITING = 10


def ask(session: Session, replay_id: int) -> tuple[Replay, Job]:
    """Have a worker compute the saliency of a replay, unless one does or has."""
    replay = find_replay(session, replay_id, lock=True)
    run, before = session.get_one(Run, replay.run_id), _job_of(session, replay)
    if before is not None and before.state in (*jobs.UNFINISHED, "done"):
        return replay, before
    track = _track(session, replay)
    checkpoint = _checkpoint(session, run, track)
    _check_room(session, run)
    if before is not None:
        jobs.remove(session, before)
    told = SaliencyParameters(
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"].tolist(),
        score=track.head.score,
    )
    job = jobs.enqueue(session, run, checkpoint, "saliency", told.model_dump(mode="json"), total=len(track))
    replay.saliency_job_id = job.id
    session.flush()
    return replay, job


def find(session: Session, replay_id: int, *, lock: bool = False) -> tuple[Replay, Job]:
    """A replay with its saliency's job, or a problem that says there is none; locked with its run."""
    replay = find_replay(session, replay_id, lock=lock)
    job = _job_of(session, replay)
    if job is None:
        raise NotFound(f"Nobody has asked for the saliency of replay {replay_id} yet.")
    return replay, job


def shown(session: Session, replay: Replay, job: Job) -> ReplaySaliency:
    """The state of a saliency as the API shows it."""
    queue = read_queue(session) if job.state == "queued" else None
    file = _file(session, job) if job.state == "done" else None
    same = ("state", "traceback", "done", "total", "created_at", "finished_at")
    told = {name: getattr(job, name) for name in same}
    told |= {"replay_id": replay.id, "run_id": replay.run_id, "file_id": file.id if file else None}
    return ReplaySaliency.model_validate(told | {"reason": jobs.state_reason(job, queue)})


def find_file(session: Session, replay_id: int) -> File:
    """The file of a replay's saliency, or a problem that says there is none."""
    _, job = find(session, replay_id)
    file = _file(session, job)
    if file is None or job.state != "done":
        raise NotFound(f"The saliency of replay {replay_id} is not there: it is {job.state}.")
    return file


def advance(_session: Session, job: Job, event: ev.Advanced) -> None:
    """Note how far the computation is."""
    job.done = min(event.done, job.total)


def keep(session: Session, job: Job, event: ev.Saliency) -> None:
    """Make sure that the result has arrived; it is found by its job."""
    reported_file(session, Maker(job.require_run_id(), job.attempt, job.id), event.file)
    replay = session.scalars(select(Replay).where(Replay.saliency_job_id == job.id)).one()
    thin_out(session, find_run(session, job.require_run_id()), replay)


def has_arrived(session: Session, job: Job) -> bool:
    """Whether the job has brought a saliency."""
    return _file(session, job) is not None


def _job_of(session: Session, replay: Replay) -> Job | None:
    return session.get(Job, replay.saliency_job_id) if replay.saliency_job_id else None


def _file(session: Session, job: Job) -> File | None:
    query = select(File).where(File.job_id == job.id, File.kind == "saliency", File.attempt == job.attempt)
    return session.scalar(query)


def _track(session: Session, replay: Replay) -> Track:
    run = find_run(session, replay.run_id)
    if not ENVIRONMENTS[run.env].shows_pixels:
        raise Conflict(f"The agents of {run.env} read numbers: there is no picture in which places could count.")
    file = find_track(session, replay.id)
    try:
        return tracks.read(place_of(files_root(session), file.stored_path))
    except tracks.TrackError as error:
        raise Conflict(f"The track of this replay cannot be read: {error}") from error


def _checkpoint(session: Session, run: Run, track: Track) -> Checkpoint:
    """The checkpoint that played; the run is locked, so that it stays until the job has ended."""
    played = Checkpoint.sha256 == track.head.checkpoint_sha256
    query = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None), played)
    found = session.scalar(query.limit(1))
    if found is None:
        raise Conflict(
            f"The checkpoint at step {track.head.checkpoint_step} was thinned out, and saliency asks its network. "
            "Choose a replay of one that is still kept; a pinned checkpoint stays."
        )
    return found


def _check_room(session: Session, run: Run) -> None:
    if jobs.count_unfinished(session, run, "saliency") >= MOST_WAITING:
        raise Conflict(f"{MOST_WAITING} saliencies of run {run.id} wait already. Ask again once one of them is done.")

"""Saliency as users ask for it; every function works inside the caller's transaction."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Checkpoint, Errand, File, Run, Video
from backend.errands import service as errands
from backend.errands.queue import line
from backend.errors import Conflict, NotFound
from backend.files.service import Maker, files_root, reported_file
from backend.files.storage import place_of
from backend.replays.service import find_track, find_video
from backend.replays.thinning import thin_out
from backend.saliency.schemas import ReplaySaliency
from backend.web.lookup import find_run
from workers.contract import events as ev
from workers.contract import tracks
from workers.contract.errands import SaliencyParameters
from workers.contract.games import ENVIRONMENTS
from workers.contract.tracks import Track

MOST_WAITING = 10


def ask(session: Session, video_id: int) -> tuple[Video, Errand]:
    """Have a worker compute the saliency of a replay, unless one does or has."""
    video = find_video(session, video_id, lock=True)
    run, before = session.get_one(Run, video.run_id), _errand_of(session, video)
    if before is not None and before.state in (*errands.UNDER_WAY, "done"):
        return video, before
    track = _track(session, video)
    checkpoint = _checkpoint(session, run, track)
    _check_room(session, run)
    if before is not None:
        errands.remove(session, before)
    told = SaliencyParameters(
        protocol=track.head.protocol,
        seed=track.head.seed,
        episode=track.head.episode,
        actions=track.columns["action"].tolist(),
        score=track.head.score,
    )
    errand = errands.ask(session, run, checkpoint, "saliency", told.model_dump(mode="json"), total=len(track))
    video.saliency_errand_id = errand.id
    session.flush()
    return video, errand


def find(session: Session, video_id: int, *, lock: bool = False) -> tuple[Video, Errand]:
    """A replay with its saliency's errand, or a problem that says there is none; locked with its run."""
    video = find_video(session, video_id, lock=lock)
    errand = _errand_of(session, video)
    if errand is None:
        raise NotFound(f"Nobody has asked for the saliency of replay {video_id} yet.")
    return video, errand


def shown(session: Session, video: Video, errand: Errand) -> ReplaySaliency:
    """The state of a saliency as the API shows it."""
    queue = line(session) if errand.state == "queued" else None
    file = _file(session, errand) if errand.state == "done" else None
    same = ("state", "traceback", "done", "total", "created_at", "finished_at")
    told = {name: getattr(errand, name) for name in same}
    told |= {"video_id": video.id, "run_id": video.run_id, "file_id": file.id if file else None}
    return ReplaySaliency.model_validate(told | {"reason": errands.reason(errand, queue)})


def find_file(session: Session, video_id: int) -> File:
    """The file of a replay's saliency, or a problem that says there is none."""
    _, errand = find(session, video_id)
    file = _file(session, errand)
    if file is None or errand.state != "done":
        raise NotFound(f"The saliency of replay {video_id} is not there: it is {errand.state}.")
    return file


def advance(_session: Session, errand: Errand, event: ev.Advanced) -> None:
    """Note how far the computation is."""
    errand.done = min(event.done, errand.total)


def keep(session: Session, errand: Errand, event: ev.Saliency) -> None:
    """Make sure that the result has arrived; it is found by its errand."""
    reported_file(session, Maker(errand.of_run, errand.attempt, errand.id), event.file)
    video = session.scalars(select(Video).where(Video.saliency_errand_id == errand.id)).one()
    thin_out(session, find_run(session, errand.of_run), video)


def has_arrived(session: Session, errand: Errand) -> bool:
    """Whether the errand has brought a saliency."""
    return _file(session, errand) is not None


def _errand_of(session: Session, video: Video) -> Errand | None:
    return session.get(Errand, video.saliency_errand_id) if video.saliency_errand_id else None


def _file(session: Session, errand: Errand) -> File | None:
    query = select(File).where(File.errand_id == errand.id, File.kind == "saliency", File.attempt == errand.attempt)
    return session.scalar(query)


def _track(session: Session, video: Video) -> Track:
    run = find_run(session, video.run_id)
    if not ENVIRONMENTS[run.env].shows_pixels:
        raise Conflict(f"The agents of {run.env} read numbers: there is no picture in which places could count.")
    file = find_track(session, video.id)
    try:
        return tracks.read(place_of(files_root(session), file.stored_path))
    except tracks.TrackError as error:
        raise Conflict(f"The track of this replay cannot be read: {error}") from error


def _checkpoint(session: Session, run: Run, track: Track) -> Checkpoint:
    """The checkpoint that played; the run is locked, so that it stays until the errand has ended."""
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
    if errands.waiting(session, run, "saliency") >= MOST_WAITING:
        raise Conflict(f"{MOST_WAITING} saliencies of run {run.id} wait already. Ask again once one of them is done.")

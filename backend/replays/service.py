"""Replays: episodes that a checkpoint played; each is kept as long as that checkpoint."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.database.engine import after_commit
from backend.database.tables import Attempt, Checkpoint, File, Job, Run, Video
from backend.errors import NotFound
from backend.files.service import Maker, delete_files, reported_file
from backend.live.notices import publish
from backend.replays import thinning
from backend.replays.thinning import FILES
from backend.web.lookup import find_run
from workers.contract import events as ev


def keep_video(session: Session, run: Run, attempt: Attempt, event: ev.Video) -> None:
    """Store a replay in place of an earlier one of its checkpoint; without its checkpoint a replay is not kept."""
    files = _reported(session, Maker(run.id, attempt.attempt), event)
    player = session.scalar(
        select(Checkpoint)
        .where(Checkpoint.run_id == run.id, Checkpoint.file == event.checkpoint, Checkpoint.file_id.is_not(None))
        .order_by(Checkpoint.attempt.desc())
        .limit(1)
    )
    if player is None:
        delete_files(session, list(files.values()))
        return
    before = thinning.played_by(session, run, [player.file])
    thinning.delete_videos(session, [video for video in before if video.file_id != files["file_id"]])
    video = _row(session, run, attempt, event.file)
    _fill(video, player, files, event)
    session.flush()
    thinning.thin_out(session, run, video)


def keep_recording(session: Session, job: Job, event: ev.Video) -> None:
    """Store the replay that a job has recorded."""
    files = _reported(session, Maker(job.require_run_id(), job.attempt, job.id), event)
    discard_recording(session, job)
    file = f"jobs/{job.id}/{event.file}"[:255]
    video = Video(run_id=job.require_run_id(), attempt=job.attempt, file=file, job_id=job.id)
    _fill(video, session.get_one(Checkpoint, job.checkpoint_id), files, event)
    session.add(video)
    session.flush()
    thinning.thin_out(session, find_run(session, job.require_run_id()), video)


def discard_recording(session: Session, job: Job) -> None:
    """Forget what an earlier attempt recorded; its files are deleted with it, and the run's picture is another."""
    made = session.scalars(select(Video).where(Video.job_id == job.id)).all()
    if not made:
        return
    thinning.forget_saliency(session, made)
    session.execute(delete(Video).where(Video.job_id == job.id))
    thinning.choose_poster(session, find_run(session, job.require_run_id()))


def has_recording(session: Session, job: Job) -> bool:
    """Whether the job has recorded something."""
    return session.scalar(select(Video.id).where(Video.job_id == job.id)) is not None


def find_video(session: Session, video_id: int, *, lock: bool = False) -> Video:
    """The replay, or a problem that says there is none; a locked one has its run locked."""
    video = session.get(Video, video_id)
    if video is not None and lock:
        find_run(session, video.run_id, lock=True)
        # Gone meanwhile, or changed.
        video = session.get(Video, video_id, populate_existing=True)
    if video is None:
        raise NotFound(f"There is no replay {video_id}.")
    return video


def pin(session: Session, video_id: int, pinned: bool) -> Video:
    """Keep a replay for good, or hand it back to the rule."""
    video = find_video(session, video_id, lock=True)
    video.pinned = pinned
    session.flush()
    notice = {"run_id": video.run_id}
    after_commit(session, lambda: publish("run.files", notice))
    return video


def _reported(session: Session, made_by: Maker, event: ev.Video) -> dict[str, int]:
    """The files that an event names, by their columns."""
    told = zip(FILES, (event.file, event.poster, event.seen, event.track), strict=True)
    return {column: reported_file(session, made_by, path).id for column, path in told if path is not None}


def _fill(video: Video, player: Checkpoint, files: dict[str, int], event: ev.Video) -> None:
    video.step, video.frames, video.checkpoint = player.step, player.frames, player.file
    for column in FILES:
        setattr(video, column, files.get(column))
    video.episode_return, video.length, video.seconds = event.episode_return, event.length, event.seconds


def _row(session: Session, run: Run, attempt: Attempt, file: str) -> Video:
    """The row of a replay's file: a new one, or the one there is when the replay is told again."""
    key = {"run_id": run.id, "attempt": attempt.attempt, "file": file}
    video = session.scalar(select(Video).filter_by(**key))
    if video is None:
        video = Video(**key)
        session.add(video)
    return video


def find_track(session: Session, video_id: int) -> File:
    """The file of a replay's track, or a problem that says there is none."""
    video = find_video(session, video_id)
    file = session.get(File, video.track_file_id) if video.track_file_id else None
    if file is None:
        raise NotFound(f"Replay {video_id} has no track: it was recorded before tracks were kept.")
    return file

"""Which of a run's replays stay: those pinned, the best, the last, and of the others the newest that there is room for.

A replay that the trainer made goes with its checkpoint too, unless it is pinned.
"""

import math
from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from backend.database.tables import Checkpoint, File, Job, Run, Video
from backend.files.service import delete_files
from backend.logs.service import note
from workers.contract.thinning import USUAL_REPLAYS_MEGABYTES

# The video, its last picture, what the network saw, and what the agent thought.
FILES = ("file_id", "poster_file_id", "seen_file_id", "track_file_id")
MEGABYTE = 1_000_000


def list_videos(session: Session, run: Run) -> Sequence[Video]:
    """A run's replays by the step of the checkpoint that played them."""
    query = select(Video).where(Video.run_id == run.id)
    return session.scalars(query.order_by(Video.step, Video.attempt, Video.id)).all()


def thin_out(session: Session, run: Run, new: Video) -> None:
    """Delete the oldest replays that are too many; those pinned, the best, the last and the new one stay."""
    megabytes = run.config.get("replays_megabytes", USUAL_REPLAYS_MEGABYTES)
    videos, sizes = list_videos(session, run), _bytes_of(session, run)
    too_many = sum(sizes.values()) - megabytes * MEGABYTE
    if too_many > 0:
        spared = {new.id, videos[-1].id, _best(session, run, videos).id}
        spared |= {video.id for video in videos if video.pinned}
        gone = []
        for video in sorted(videos, key=lambda video: video.id):
            if too_many > 0 and video.id not in spared:
                gone.append(video)
                too_many -= sizes[video.id]
        delete_videos(session, gone)
        for video in gone:
            told = f"The replay at step {video.step} was removed: the run's replays took more than {megabytes} MB."
            note(session, run, f"{told} A pinned one stays; replays_megabytes says how much they may take.")
    choose_poster(session, run)


def delete_replays(session: Session, run: Run, checkpoints: Sequence[str]) -> None:
    """Delete the replays of checkpoints that were thinned out, unless another attempt's of the same step is kept."""
    there = select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    kept = set(session.scalars(there))
    delete_videos(session, played_by(session, run, [name for name in checkpoints if name not in kept]))
    choose_poster(session, run)


def forget_saliency(session: Session, videos: Sequence[Video]) -> None:
    """Delete the saliency of replays, or end its computation."""
    _delete_jobs(session, [video.saliency_job_id for video in videos])


def delete_videos(session: Session, videos: Sequence[Video]) -> None:
    """Delete replays with all that belongs to them."""
    forget_saliency(session, videos)
    ids = [found for video in videos for column in FILES if (found := getattr(video, column)) is not None]
    for video in videos:
        session.delete(video)
    session.flush()
    delete_files(session, ids)
    _delete_jobs(session, [video.job_id for video in videos])


def _delete_jobs(session: Session, numbers: Sequence[int | None]) -> None:
    """Delete what brought replays or their saliency, with its files."""
    for job in session.scalars(select(Job).where(Job.id.in_([n for n in numbers if n is not None]))).all():
        delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())
        session.delete(job)
    session.flush()


def played_by(session: Session, run: Run, checkpoints: Sequence[str]) -> Sequence[Video]:
    """The trainer's replays of checkpoints; those that were asked for stay without them, and those that are pinned."""
    query = select(Video).where(
        Video.run_id == run.id,
        Video.checkpoint.in_(checkpoints),
        Video.job_id.is_(None),
        Video.pinned.is_(False),
    )
    return session.scalars(query).all()


def _bytes_of(session: Session, run: Run) -> dict[int, int]:
    """What each of a run's replays takes with all its files."""
    files = or_(File.id.in_([getattr(Video, column) for column in FILES]), File.job_id == Video.saliency_job_id)
    query = select(Video.id, func.coalesce(func.sum(File.bytes), 0)).outerjoin(File, files)
    return {
        number: int(total) for number, total in session.execute(query.where(Video.run_id == run.id).group_by(Video.id))
    }


def _best(session: Session, run: Run, videos: Sequence[Video]) -> Video:
    """The best checkpoint's replay; without one, that of the highest score."""
    best = session.scalar(select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.best).limit(1))

    def merit(video: Video) -> tuple[bool, float, int]:
        score = -math.inf if math.isnan(video.episode_return) else video.episode_return
        return video.checkpoint == best, score, video.id

    return max(videos, key=merit)


def choose_poster(session: Session, run: Run) -> None:
    """Show the run by the last picture of the replay that is farthest along."""
    query = select(Video.poster_file_id).where(Video.run_id == run.id)
    run.poster_file_id = session.scalar(query.order_by(Video.step.desc(), Video.id.desc()).limit(1))

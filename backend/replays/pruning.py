"""Pruning of a run's replays. Pinned ones, the best and the last stay, and as many of the newest as fit.

Replays recorded by the trainer are also deleted with their checkpoint, unless they are pinned.
"""

import math
from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from backend.database.tables import Checkpoint, File, Futures, Job, Replay, Run
from backend.files.service import delete_files
from backend.logs.service import note
from workers.contract.pruning import DEFAULT_REPLAYS_MEGABYTES

# The columns of the video, its last picture, the network's input, and the track.
FILES = ("file_id", "poster_file_id", "seen_file_id", "track_file_id")
MEGABYTE = 1_000_000


def list_replays(session: Session, run: Run) -> Sequence[Replay]:
    """Return the replays of a run by the step of their checkpoints."""
    query = select(Replay).where(Replay.run_id == run.id)
    return session.scalars(query.order_by(Replay.step, Replay.attempt, Replay.id)).all()


def prune_replays(session: Session, run: Run, new: Replay) -> None:
    """Delete the oldest replays beyond the limit. Keep the pinned ones, the best, the last and the new one."""
    megabytes = run.config.get("replays_megabytes", DEFAULT_REPLAYS_MEGABYTES)
    replays, sizes = list_replays(session, run), _bytes_of(session, run)
    excess_bytes = sum(sizes.values()) - megabytes * MEGABYTE
    if excess_bytes > 0:
        kept_ids = {new.id, replays[-1].id, _best(session, run, replays).id}
        kept_ids |= {replay.id for replay in replays if replay.pinned}
        deleted = []
        for replay in sorted(replays, key=lambda replay: replay.id):
            if excess_bytes > 0 and replay.id not in kept_ids:
                deleted.append(replay)
                excess_bytes -= sizes[replay.id]
        delete_replays(session, deleted)
        for replay in deleted:
            removed = f"The replay at step {replay.step} was deleted: the run's replays exceeded {megabytes} MB."
            note(session, run, f"{removed} Pin a replay to keep it, or raise replays_megabytes.")
    choose_poster(session, run)


def delete_replays_of_checkpoints(session: Session, run: Run, checkpoints: Sequence[str]) -> None:
    """Delete the replays of deleted checkpoints, unless another attempt kept a checkpoint of the same step."""
    there = select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    kept = set(session.scalars(there))
    delete_replays(session, played_by(session, run, [name for name in checkpoints if name not in kept]))
    choose_poster(session, run)


def forget_analyses(session: Session, replays: Sequence[Replay]) -> None:
    """Delete the saliency and the futures of replays, or cancel their computation."""
    of = Futures.replay_id.in_([replay.id for replay in replays])
    futures = session.scalars(select(Futures.job_id).where(of)).all()
    _delete_jobs(session, [*(replay.saliency_job_id for replay in replays), *futures])


def delete_replays(session: Session, replays: Sequence[Replay]) -> None:
    """Delete replays with their saliency, futures, files and jobs."""
    forget_analyses(session, replays)
    ids = [found for replay in replays for column in FILES if (found := getattr(replay, column)) is not None]
    for replay in replays:
        session.delete(replay)
    session.flush()
    delete_files(session, ids)
    _delete_jobs(session, [replay.job_id for replay in replays])


def _delete_jobs(session: Session, job_ids: Sequence[int | None]) -> None:
    """Delete the jobs of replays, saliency or futures, with their files."""
    for job in session.scalars(
        select(Job).where(Job.id.in_([job_id for job_id in job_ids if job_id is not None]))
    ).all():
        delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())
        session.delete(job)
    session.flush()


def played_by(session: Session, run: Run, checkpoints: Sequence[str]) -> Sequence[Replay]:
    """Return the trainer's unpinned replays of checkpoints. Requested replays do not depend on their checkpoint."""
    query = select(Replay).where(
        Replay.run_id == run.id,
        Replay.checkpoint.in_(checkpoints),
        Replay.job_id.is_(None),
        Replay.pinned.is_(False),
    )
    return session.scalars(query).all()


def _bytes_of(session: Session, run: Run) -> dict[int, int]:
    """Return the size of each replay of a run with all its files."""
    futures = select(Futures.job_id).where(Futures.replay_id == Replay.id).correlate(Replay).scalar_subquery()
    files = or_(
        File.id.in_([getattr(Replay, column) for column in FILES]),
        File.job_id == Replay.saliency_job_id,
        File.job_id.in_(futures),
    )
    query = select(Replay.id, func.coalesce(func.sum(File.bytes), 0)).outerjoin(File, files)
    rows = session.execute(query.where(Replay.run_id == run.id).group_by(Replay.id))
    return {replay_id: int(total) for replay_id, total in rows}


def _best(session: Session, run: Run, replays: Sequence[Replay]) -> Replay:
    """Return the replay of the best checkpoint, or else the one with the highest score."""
    best = session.scalar(select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.best).limit(1))

    def merit(replay: Replay) -> tuple[bool, float, int]:
        score = -math.inf if math.isnan(replay.episode_return) else replay.episode_return
        return replay.checkpoint == best, score, replay.id

    return max(replays, key=merit)


def choose_poster(session: Session, run: Run) -> None:
    """Use the last picture of the latest replay as the thumbnail of the run."""
    query = select(Replay.poster_file_id).where(Replay.run_id == run.id)
    run.poster_file_id = session.scalar(query.order_by(Replay.step.desc(), Replay.id.desc()).limit(1))

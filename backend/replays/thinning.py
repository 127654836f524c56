"""Which of a run's replays stay: those pinned, the best, the last, and of the others the newest that there is room for.

A replay that the trainer made goes with its checkpoint too, unless it is pinned.
"""

import math
from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from backend.database.tables import Checkpoint, File, Job, Replay, Run
from backend.files.service import delete_files
from backend.logs.service import note
from workers.contract.thinning import USUAL_REPLAYS_MEGABYTES

# The video, its last picture, what the network saw, and what the agent thought.
FILES = ("file_id", "poster_file_id", "seen_file_id", "track_file_id")
MEGABYTE = 1_000_000


def list_replays(session: Session, run: Run) -> Sequence[Replay]:
    """A run's replays by the step of the checkpoint that played them."""
    query = select(Replay).where(Replay.run_id == run.id)
    return session.scalars(query.order_by(Replay.step, Replay.attempt, Replay.id)).all()


def thin_out(session: Session, run: Run, new: Replay) -> None:
    """Delete the oldest replays that are too many; those pinned, the best, the last and the new one stay."""
    megabytes = run.config.get("replays_megabytes", USUAL_REPLAYS_MEGABYTES)
    replays, sizes = list_replays(session, run), _bytes_of(session, run)
    too_many = sum(sizes.values()) - megabytes * MEGABYTE
    if too_many > 0:
        spared = {new.id, replays[-1].id, _best(session, run, replays).id}
        spared |= {replay.id for replay in replays if replay.pinned}
        gone = []
        for replay in sorted(replays, key=lambda replay: replay.id):
            if too_many > 0 and replay.id not in spared:
                gone.append(replay)
                too_many -= sizes[replay.id]
        delete_replays(session, gone)
        for replay in gone:
            told = f"The replay at step {replay.step} was removed: the run's replays took more than {megabytes} MB."
            note(session, run, f"{told} A pinned one stays; replays_megabytes says how much they may take.")
    choose_poster(session, run)


def delete_replays_of_checkpoints(session: Session, run: Run, checkpoints: Sequence[str]) -> None:
    """Delete the replays of checkpoints that were thinned out, unless another attempt's of the same step is kept."""
    there = select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    kept = set(session.scalars(there))
    delete_replays(session, played_by(session, run, [name for name in checkpoints if name not in kept]))
    choose_poster(session, run)


def forget_saliency(session: Session, replays: Sequence[Replay]) -> None:
    """Delete the saliency of replays, or end its computation."""
    _delete_jobs(session, [replay.saliency_job_id for replay in replays])


def delete_replays(session: Session, replays: Sequence[Replay]) -> None:
    """Delete replays with all that belongs to them."""
    forget_saliency(session, replays)
    ids = [found for replay in replays for column in FILES if (found := getattr(replay, column)) is not None]
    for replay in replays:
        session.delete(replay)
    session.flush()
    delete_files(session, ids)
    _delete_jobs(session, [replay.job_id for replay in replays])


def _delete_jobs(session: Session, numbers: Sequence[int | None]) -> None:
    """Delete what brought replays or their saliency, with its files."""
    for job in session.scalars(select(Job).where(Job.id.in_([n for n in numbers if n is not None]))).all():
        delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())
        session.delete(job)
    session.flush()


def played_by(session: Session, run: Run, checkpoints: Sequence[str]) -> Sequence[Replay]:
    """The trainer's replays of checkpoints; those that were asked for stay without them, and those that are pinned."""
    query = select(Replay).where(
        Replay.run_id == run.id,
        Replay.checkpoint.in_(checkpoints),
        Replay.job_id.is_(None),
        Replay.pinned.is_(False),
    )
    return session.scalars(query).all()


def _bytes_of(session: Session, run: Run) -> dict[int, int]:
    """What each of a run's replays takes with all its files."""
    files = or_(File.id.in_([getattr(Replay, column) for column in FILES]), File.job_id == Replay.saliency_job_id)
    query = select(Replay.id, func.coalesce(func.sum(File.bytes), 0)).outerjoin(File, files)
    rows = session.execute(query.where(Replay.run_id == run.id).group_by(Replay.id))
    return {replay_id: int(total) for replay_id, total in rows}


def _best(session: Session, run: Run, replays: Sequence[Replay]) -> Replay:
    """The best checkpoint's replay; without one, that of the highest score."""
    best = session.scalar(select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.best).limit(1))

    def merit(replay: Replay) -> tuple[bool, float, int]:
        score = -math.inf if math.isnan(replay.episode_return) else replay.episode_return
        return replay.checkpoint == best, score, replay.id

    return max(replays, key=merit)


def choose_poster(session: Session, run: Run) -> None:
    """Show the run by the last picture of the replay that is farthest along."""
    query = select(Replay.poster_file_id).where(Replay.run_id == run.id)
    run.poster_file_id = session.scalar(query.order_by(Replay.step.desc(), Replay.id.desc()).limit(1))

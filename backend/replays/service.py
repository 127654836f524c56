"""Replays: episodes played from a checkpoint. Each is kept as long as its checkpoint."""

import itertools

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.database.engine import after_commit
from backend.database.tables import Attempt, Checkpoint, File, Job, Replay, Run
from backend.errors import NotFound
from backend.files.service import Maker, delete_files, find_reported
from backend.live.notices import publish
from backend.replays import pruning
from backend.replays.pruning import FILES
from backend.web.lookup import find_run
from workers.contract import events as ev


def keep_replay(session: Session, run: Run, attempt: Attempt, event: ev.ReplayEvent) -> None:
    """Store a replay. It replaces an earlier one of its checkpoint, and is dropped if the checkpoint is gone."""
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
    before = pruning.played_by(session, run, [player.file])
    pruning.delete_replays(session, [replay for replay in before if replay.file_id != files["file_id"]])
    replay = _row(session, run, attempt, event.file)
    _fill(replay, player, files, event)
    session.flush()
    pruning.prune_replays(session, run, replay)


def keep_recording(session: Session, job: Job, event: ev.ReplayEvent) -> None:
    """Store the replay that a job recorded."""
    files = _reported(session, Maker(job.require_run_id(), job.attempt, job.id), event)
    discard_recording(session, job)
    attempt = {"run_id": job.require_run_id(), "attempt": job.attempt}
    # If the run was imported, jobs with the same number may have recorded it elsewhere.
    taken = set(session.scalars(select(Replay.file).filter_by(**attempt)))
    folders = (f"jobs/{job.id}" if copy == 1 else f"jobs/{job.id}-{copy}" for copy in itertools.count(1))
    file = next(name for folder in folders if (name := f"{folder}/{event.file}"[:255]) not in taken)
    replay = Replay(**attempt, file=file, job_id=job.id)
    _fill(replay, session.get_one(Checkpoint, job.checkpoint_id), files, event)
    session.add(replay)
    session.flush()
    pruning.prune_replays(session, find_run(session, job.require_run_id()), replay)


def discard_recording(session: Session, job: Job) -> None:
    """Delete the replay of an earlier attempt, and choose the run's thumbnail again.

    The attempt's files are deleted with the attempt.
    """
    made = session.scalars(select(Replay).where(Replay.job_id == job.id)).all()
    if not made:
        return
    pruning.forget_analyses(session, made)
    session.execute(delete(Replay).where(Replay.job_id == job.id))
    pruning.choose_poster(session, find_run(session, job.require_run_id()))


def has_recording(session: Session, job: Job) -> bool:
    """Return True if the job has recorded a replay."""
    return session.scalar(select(Replay.id).where(Replay.job_id == job.id)) is not None


def find_replay(session: Session, replay_id: int, *, lock: bool = False) -> Replay:
    """Return a replay, or raise NotFound. With `lock`, lock its run first."""
    replay = session.get(Replay, replay_id)
    if replay is not None and lock:
        find_run(session, replay.run_id, lock=True)
        # Read it again: it may have changed before the lock.
        replay = session.get(Replay, replay_id, populate_existing=True)
    if replay is None:
        raise NotFound(f"There is no replay {replay_id}.")
    return replay


def pin(session: Session, replay_id: int, pinned: bool) -> Replay:
    """Pin or unpin a replay."""
    replay = find_replay(session, replay_id, lock=True)
    replay.pinned = pinned
    session.flush()
    notice = {"run_id": replay.run_id}
    after_commit(session, lambda: publish("run.files", notice))
    return replay


def _reported(session: Session, made_by: Maker, event: ev.ReplayEvent) -> dict[str, int]:
    """Return the ids of the files that an event names, by column."""
    paths = zip(FILES, (event.file, event.poster, event.seen, event.track), strict=True)
    return {column: find_reported(session, made_by, path).id for column, path in paths if path is not None}


def _fill(replay: Replay, player: Checkpoint, files: dict[str, int], event: ev.ReplayEvent) -> None:
    replay.step, replay.frames, replay.checkpoint = player.step, player.frames, player.file
    for column in FILES:
        setattr(replay, column, files.get(column))
    replay.episode_return, replay.length, replay.seconds = event.episode_return, event.length, event.seconds


def _row(session: Session, run: Run, attempt: Attempt, file: str) -> Replay:
    """Return the row of a replay file. Create it, unless the replay was reported before."""
    key = {"run_id": run.id, "attempt": attempt.attempt, "file": file}
    replay = session.scalar(select(Replay).filter_by(**key))
    if replay is None:
        replay = Replay(**key)
        session.add(replay)
    return replay


def find_track(session: Session, replay_id: int) -> File:
    """Return the track file of a replay, or raise NotFound."""
    replay = find_replay(session, replay_id)
    file = session.get(File, replay.track_file_id) if replay.track_file_id else None
    if file is None:
        raise NotFound(f"Replay {replay_id} has no track: it was recorded by a version without tracks.")
    return file

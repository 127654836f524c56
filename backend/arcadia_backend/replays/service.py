"""Replays: episodes played from a checkpoint, their schemas, and which are kept."""

import itertools
import math
from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from arcadia_backend import usage
from arcadia_backend.database import tables
from arcadia_backend.database.tables import Attempt, Checkpoint, File, Futures, Job, Practice, Review, Run, Usage
from arcadia_backend.errors import NotFound
from arcadia_backend.files.service import Maker, announce_files, delete_files, find_reported
from arcadia_backend.logs import note
from arcadia_backend.web.formats import JsonNumber
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.layout import DEFAULT_REPLAYS_MEGABYTES
from arcadia_workers.contract.tracks import TrackHead
from arcadia_workers.contract.values import Truth


class ReplayActions(BaseModel):
    """For each action, the reason why it is not possible now, or null if it is.

    The server rejects others with 409, or with 403 if you lack the role.
    """

    simulate: str | None = Field(description="Simulate futures with its own agent.")
    play: str | None = Field(description="Continue it as a person.")
    saliency: str | None = Field(description="Compute its saliency.")
    start_points: str | None = Field(description="Save its decisions as start points.")
    edit: str | None = Field(description="Pin it, review it, or delete what was made of it.")


class Replay(BaseModel):
    """A replay: one episode played from a checkpoint. NaN and infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    id: int
    run_id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    poster_file_id: int | None
    seen_file_id: int | None = Field(description="A video of what the network saw, in step with the file.")
    track_file_id: int | None = Field(description="The track, as an .npz file.")
    saliency_asked: bool = Field(description="Whether its saliency exists or is being computed.")
    pinned: bool = Field(description="Whether pruning keeps it in any case.")
    episode_return: JsonNumber
    length: int
    seconds: float
    created_at: datetime
    actions: ReplayActions


class EditReplay(BaseModel):
    """A change of a replay."""

    model_config = ConfigDict(extra="forbid")

    pinned: Truth = Field(description="Whether pruning keeps it in any case.")


class Track(BaseModel):
    """The track of a replay. Every list has one entry per decision, in order."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    head: TrackHead
    picture: list[int] = Field(description="Index of the video picture at the decision, from 0.")
    action: list[int] | list[list[JsonNumber]] = Field(
        description="Index of the action, or numbers of a continuous one."
    )
    numbers: list[list[JsonNumber]] = Field(
        description="Action probabilities, action values, or means and variance, depending on the head."
    )
    value: list[JsonNumber] = Field(description="V(s), or the largest action value.")
    obtained: list[JsonNumber] = Field(description="Discounted return of the rewards as training counts them.")
    reward: list[JsonNumber] = Field(description="The raw reward of the action.")
    score: list[JsonNumber] = Field(description="The score before the decision.")
    lives: list[int] = Field(description="Lives left before the decision, or -1 if the game has none.")
    life_lost: list[bool]


# The columns of the video, its last picture, the network's input, and the track.
FILES = ("file_id", "poster_file_id", "seen_file_id", "track_file_id")
MEGABYTE = 1_000_000


def list_replays(session: Session, run: Run) -> Sequence[tables.Replay]:
    """Return the replays of a run by the step of their checkpoints."""
    query = select(tables.Replay).where(tables.Replay.run_id == run.id)
    return session.scalars(query.order_by(tables.Replay.step, tables.Replay.attempt, tables.Replay.id)).all()


def prune_replays(session: Session, run: Run, new: tables.Replay) -> None:
    """Delete the oldest replays beyond the limit. Keep the pinned ones, the best, the last and the new one.

    The limit is in bytes, since games differ by ten times in the size of a minute.
    """
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
        announce_files(session, run.id)
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


def forget_analyses(session: Session, replays: Sequence[tables.Replay]) -> None:
    """Delete the saliency, futures, reviews and practices of replays, or cancel their computation."""
    ids = [replay.id for replay in replays]
    made = (select(table.job_id).where(table.replay_id.in_(ids)) for table in (Futures, Review, Practice))
    of_replays = [job_id for query in made for job_id in session.scalars(query)]
    _delete_jobs(session, [*(replay.saliency_job_id for replay in replays), *of_replays])


def delete_replays(session: Session, replays: Sequence[tables.Replay]) -> None:
    """Delete replays with their saliency, futures, reviews, practices, files and jobs."""
    forget_analyses(session, replays)
    ids = [file_id for replay in replays for column in FILES if (file_id := getattr(replay, column)) is not None]
    for replay in replays:
        session.delete(replay)
    session.flush()
    delete_files(session, ids)
    _delete_jobs(session, [replay.job_id for replay in replays])


def _delete_jobs(session: Session, job_ids: Sequence[int | None]) -> None:
    """Delete the jobs of replays, saliency, futures, reviews or practices, with their files."""
    wanted = [job_id for job_id in job_ids if job_id is not None]
    usage.end(session, Usage.job_id.in_(wanted))
    for job in session.scalars(select(Job).where(Job.id.in_(wanted))).all():
        delete_files(session, session.scalars(select(File.id).where(File.job_id == job.id)).all())
        session.delete(job)
    session.flush()


def played_by(session: Session, run: Run, checkpoints: Sequence[str]) -> Sequence[tables.Replay]:
    """Return the trainer's unpinned replays of checkpoints. Requested replays do not depend on their checkpoint."""
    query = select(tables.Replay).where(
        tables.Replay.run_id == run.id,
        tables.Replay.checkpoint.in_(checkpoints),
        tables.Replay.job_id.is_(None),
        tables.Replay.pinned.is_(False),
    )
    return session.scalars(query).all()


def _bytes_of(session: Session, run: Run) -> dict[int, int]:
    """Return the size of each replay of a run with all its files."""
    futures = (
        select(Futures.job_id).where(Futures.replay_id == tables.Replay.id).correlate(tables.Replay).scalar_subquery()
    )
    files = or_(
        File.id.in_([getattr(tables.Replay, column) for column in FILES]),
        File.job_id == tables.Replay.saliency_job_id,
        File.job_id.in_(futures),
    )
    query = select(tables.Replay.id, func.coalesce(func.sum(File.bytes), 0)).outerjoin(File, files)
    rows = session.execute(query.where(tables.Replay.run_id == run.id).group_by(tables.Replay.id))
    return {replay_id: int(total) for replay_id, total in rows}


def _best(session: Session, run: Run, replays: Sequence[tables.Replay]) -> tables.Replay:
    """Return the replay of the best checkpoint, or else the one with the highest score."""
    best = session.scalar(select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.best).limit(1))

    def merit(replay: tables.Replay) -> tuple[bool, float, int]:
        score = -math.inf if math.isnan(replay.episode_return) else replay.episode_return
        return replay.checkpoint == best, score, replay.id

    return max(replays, key=merit)


def choose_poster(session: Session, run: Run) -> None:
    """Use the last picture of the latest replay as the thumbnail of the run."""
    query = select(tables.Replay.poster_file_id).where(tables.Replay.run_id == run.id)
    run.poster_file_id = session.scalar(query.order_by(tables.Replay.step.desc(), tables.Replay.id.desc()).limit(1))


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
    before = played_by(session, run, [player.file])
    delete_replays(session, [replay for replay in before if replay.file_id != files["file_id"]])
    replay = _row(session, run, attempt, event.file)
    _fill(replay, player, files, event)
    session.flush()
    prune_replays(session, run, replay)


def keep_recording(session: Session, job: Job, event: ev.ReplayEvent) -> None:
    """Store the replay that a job recorded."""
    files = _reported(session, Maker(job.require_run_id(), job.attempt, job.id), event)
    discard_recording(session, job)
    attempt = {"run_id": job.require_run_id(), "attempt": job.attempt}
    # If the run was imported, jobs with the same number may have recorded it elsewhere.
    taken = set(session.scalars(select(tables.Replay.file).filter_by(**attempt)))
    folders = (f"jobs/{job.id}" if copy == 1 else f"jobs/{job.id}-{copy}" for copy in itertools.count(1))
    file = next(name for folder in folders if (name := f"{folder}/{event.file}"[:255]) not in taken)
    replay = tables.Replay(**attempt, file=file, job_id=job.id)
    _fill(replay, session.get_one(Checkpoint, job.checkpoint_id), files, event)
    session.add(replay)
    session.flush()
    prune_replays(session, find_run(session, job.require_run_id()), replay)
    announce_files(session, job.run_id)


def discard_recording(session: Session, job: Job) -> None:
    """Delete the replay of an earlier attempt, and choose the run's thumbnail again.

    The attempt's files are deleted with the attempt.
    """
    made = session.scalars(select(tables.Replay).where(tables.Replay.job_id == job.id)).all()
    if not made:
        return
    forget_analyses(session, made)
    announce_files(session, job.run_id)
    for replay in made:
        session.delete(replay)
    session.flush()
    choose_poster(session, find_run(session, job.require_run_id()))


def has_recording(session: Session, job: Job) -> bool:
    """Return True if the job has recorded a replay."""
    return session.scalar(select(tables.Replay.id).where(tables.Replay.job_id == job.id)) is not None


def find_replay(session: Session, replay_id: int, *, lock: bool = False) -> tables.Replay:
    """Return a replay, or raise NotFound. With `lock`, lock its run first."""
    replay = session.get(tables.Replay, replay_id)
    if replay is not None and lock:
        find_run(session, replay.run_id, lock=True)
        # Read it again: it may have changed before the lock.
        replay = session.get(tables.Replay, replay_id, populate_existing=True)
    if replay is None:
        raise NotFound(f"There is no replay {replay_id}.")
    return replay


def pin(session: Session, replay_id: int, pinned: bool) -> tables.Replay:
    """Pin or unpin a replay."""
    replay = find_replay(session, replay_id, lock=True)
    replay.pinned = pinned
    session.flush()
    announce_files(session, replay.run_id)
    return replay


def _reported(session: Session, made_by: Maker, event: ev.ReplayEvent) -> dict[str, int]:
    """Return the ids of the files that an event names, by column."""
    paths = zip(FILES, (event.file, event.poster, event.seen, event.track), strict=True)
    return {column: find_reported(session, made_by, path).id for column, path in paths if path is not None}


def _fill(replay: tables.Replay, player: Checkpoint, files: dict[str, int], event: ev.ReplayEvent) -> None:
    replay.step, replay.frames, replay.checkpoint = player.step, player.frames, player.file
    for column in FILES:
        setattr(replay, column, files.get(column))
    replay.episode_return, replay.length, replay.seconds = event.episode_return, event.length, event.seconds


def _row(session: Session, run: Run, attempt: Attempt, file: str) -> tables.Replay:
    """Return the row of a replay file. Create it, unless the replay was reported before."""
    key = {"run_id": run.id, "attempt": attempt.attempt, "file": file}
    replay = session.scalar(select(tables.Replay).filter_by(**key))
    if replay is None:
        replay = tables.Replay(**key)
        session.add(replay)
    return replay


def find_track(session: Session, replay_id: int) -> File:
    """Return the track file of a replay, or raise NotFound."""
    replay = find_replay(session, replay_id)
    file = session.get(File, replay.track_file_id) if replay.track_file_id else None
    if file is None:
        raise NotFound(f"Replay {replay_id} has no track: it was recorded by a version without tracks.")
    return file

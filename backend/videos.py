"""Replays: episodes that a checkpoint played; each is kept as long as that checkpoint."""

from collections.abc import Sequence
from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import models
from backend.db import Db
from backend.files.service import delete_files, reported_file
from backend.json_numbers import JsonNumber
from backend.lookup import KnownRun
from backend.models import Attempt, Checkpoint, Run
from workers.contract import events as ev

router = APIRouter(tags=["files"])


class RunVideo(BaseModel):
    """A replay: one episode played from a checkpoint. NaN and the infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    poster_file_id: int | None
    episode_return: JsonNumber
    length: int
    seconds: float
    created_at: datetime


def keep_video(session: Session, run: Run, attempt: Attempt, event: ev.Video) -> None:
    """Store a replay in place of an earlier one of its checkpoint; without its checkpoint a replay is not kept."""
    file, poster = (reported_file(session, run.id, attempt.attempt, path) for path in (event.file, event.poster))
    player = session.scalar(
        select(Checkpoint)
        .where(Checkpoint.run_id == run.id, Checkpoint.file == event.checkpoint, Checkpoint.file_id.is_not(None))
        .order_by(Checkpoint.attempt.desc())
        .limit(1)
    )
    if player is None:
        delete_files(session, [file.id, poster.id])
        return
    _delete(session, [video for video in _played_by(session, run, [player.file]) if video.file_id != file.id])
    video = _row(session, run, attempt, event.file)
    video.step, video.frames, video.checkpoint = player.step, player.frames, player.file
    video.file_id, video.poster_file_id = file.id, poster.id
    video.episode_return, video.length, video.seconds = event.episode_return, event.length, event.seconds
    session.flush()
    _choose_poster(session, run)


def _row(session: Session, run: Run, attempt: Attempt, file: str) -> models.Video:
    """The row of a replay's file: a new one, or the one there is when the replay is told again."""
    key = {"run_id": run.id, "attempt": attempt.attempt, "file": file}
    video = session.scalar(select(models.Video).filter_by(**key))
    if video is None:
        video = models.Video(**key)
        session.add(video)
    return video


def delete_replays(session: Session, run: Run, checkpoints: Sequence[str]) -> None:
    """Delete the replays of checkpoints that were thinned out, unless another attempt's of the same step is kept."""
    there = select(Checkpoint.file).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    kept = set(session.scalars(there))
    _delete(session, _played_by(session, run, [name for name in checkpoints if name not in kept]))
    _choose_poster(session, run)


def _played_by(session: Session, run: Run, checkpoints: Sequence[str]) -> Sequence[models.Video]:
    query = select(models.Video).where(models.Video.run_id == run.id, models.Video.checkpoint.in_(checkpoints))
    return session.scalars(query).all()


def _delete(session: Session, videos: Sequence[models.Video]) -> None:
    ids = [found for video in videos for found in (video.file_id, video.poster_file_id) if found is not None]
    for video in videos:
        session.delete(video)
    session.flush()
    delete_files(session, ids)


def _choose_poster(session: Session, run: Run) -> None:
    """Show the run by the last picture of the replay that is farthest along."""
    query = select(models.Video.poster_file_id).where(models.Video.run_id == run.id)
    run.poster_file_id = session.scalar(query.order_by(models.Video.step.desc(), models.Video.id.desc()).limit(1))


@router.get("/runs/{run_id}/videos")
def list_videos(db: Db, run: KnownRun) -> list[RunVideo]:
    """Replays by the step of the checkpoint that played them."""
    query = select(models.Video).where(models.Video.run_id == run.id)
    with db.read() as session:
        rows = session.scalars(query.order_by(models.Video.step, models.Video.attempt, models.Video.id))
        return [RunVideo.model_validate(row) for row in rows]

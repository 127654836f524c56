"""Checkpoints, replays and evaluations that a trainer reports; their files were uploaded before."""

import math
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.errors import FieldError, Invalid
from backend.files.service import delete_files
from backend.models import Attempt, Checkpoint, Evaluation, File, Run, Video
from workers.trainer import events as ev


def keep_checkpoint(session: Session, run: Run, attempt: Attempt, event: ev.Checkpoint) -> None:
    """Store a checkpoint, and thin out those that the trainer no longer keeps."""
    named = event.checkpoint
    file = _uploaded(session, run, attempt, named.file)
    row = session.scalar(
        select(Checkpoint).where(
            Checkpoint.run_id == run.id, Checkpoint.attempt == attempt.attempt, Checkpoint.file == named.file
        )
    )
    if row is None:
        row = Checkpoint(run_id=run.id, attempt=attempt.attempt, file=named.file)
        session.add(row)
    row.step, row.frames, row.sha256, row.bytes = named.step, named.frames, named.sha256, named.bytes
    row.file_id, row.return_mean = file.id, event.return_mean
    row.best = False
    session.flush()
    _thin_out(session, run, attempt, event.kept)


def keep_video(session: Session, run: Run, attempt: Attempt, event: ev.Video) -> None:
    """Store a replay under the step of the checkpoint that played it, and make it the run's poster."""
    file, poster = _uploaded(session, run, attempt, event.file), _uploaded(session, run, attempt, event.poster)
    player = session.scalar(
        select(Checkpoint)
        .where(Checkpoint.run_id == run.id, Checkpoint.file == event.checkpoint)
        .order_by(Checkpoint.attempt.desc())
        .limit(1)
    )
    session.add(
        Video(
            run_id=run.id,
            attempt=attempt.attempt,
            step=player.step if player else event.step,
            frames=player.frames if player else event.frames,
            file=event.file,
            checkpoint=event.checkpoint[:255],
            file_id=file.id,
            poster_file_id=poster.id,
            episode_return=event.episode_return,
            length=event.length,
            seconds=event.seconds,
        )
    )
    run.poster_file_id = poster.id


def keep_evaluation(session: Session, run: Run, attempt: Attempt, event: ev.Evaluation) -> None:
    """Store the returns of an evaluation."""
    session.add(
        Evaluation(
            run_id=run.id,
            attempt=attempt.attempt,
            seq=event.seq,
            step=event.step,
            frames=event.frames,
            returns=event.returns,
            return_mean=sum(event.returns) / len(event.returns) if event.returns else None,
        )
    )


def _uploaded(session: Session, run: Run, attempt: Attempt, path: str) -> File:
    query = select(File).where(File.run_id == run.id, File.attempt == attempt.attempt, File.path == path)
    file = session.scalar(query)
    if file is None:
        raise Invalid(
            FieldError(field="events", message=f"{path[:255]} was not uploaded; upload a file before its event")
        )
    return file


def _thin_out(session: Session, run: Run, attempt: Attempt, kept: Sequence[str]) -> None:
    """Delete files that are neither on the trainer's disk any more nor the run's best."""
    rows = session.scalars(select(Checkpoint).where(Checkpoint.run_id == run.id).order_by(Checkpoint.id)).all()
    resumed = attempt.resumed_step or 0
    current = [row for row in rows if row.attempt == attempt.attempt or row.step <= resumed]
    best = max((row for row in current if row.file_id is not None), key=_score, default=None)
    for row in rows:
        row.best = row is best and row.return_mean is not None
    spent = [
        row for row in rows if row is not best and row.file_id is not None and not (row in current and row.file in kept)
    ]
    ids = [row.file_id for row in spent if row.file_id is not None]
    for row in spent:
        row.file_id = None
    session.flush()
    if ids:
        delete_files(session, ids)


def _score(row: Checkpoint) -> tuple[float, int]:
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step

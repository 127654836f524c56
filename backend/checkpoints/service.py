"""Checkpoints: store, pin, find for the next attempt, and copy for a fork."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.pruning import prune_checkpoints
from backend.database.engine import after_commit
from backend.database.tables import Attempt, Checkpoint, File, Run
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.files.service import Maker, copy_file, delete_files, find_reported
from backend.live.notices import publish
from backend.logs.service import note
from workers.contract import events as ev

MAX_RESUMABLE = 10


def store_checkpoint(session: Session, run: Run, attempt: Attempt, event: ev.CheckpointEvent) -> bool:
    """Store a reported checkpoint and prune the others of the run. Return False if the uploaded file is damaged."""
    reported = event.checkpoint
    file = find_reported(session, Maker(run.id, attempt.attempt), reported.file)
    if file.sha256 != reported.sha256:
        # Otherwise the damage would show only when the checkpoint is needed.
        note(
            session,
            run,
            f"{reported.file} was discarded: the uploaded file differs from what the trainer wrote.",
            "warning",
        )
        delete_files(session, [file.id])
        return False
    row = session.scalar(
        select(Checkpoint).where(
            Checkpoint.run_id == run.id, Checkpoint.attempt == attempt.attempt, Checkpoint.file == reported.file
        )
    )
    if row is None:
        row = Checkpoint(run_id=run.id, attempt=attempt.attempt, file=reported.file)
        session.add(row)
    row.step, row.frames, row.sha256, row.bytes = reported.step, reported.frames, reported.sha256, reported.bytes
    row.file_id, row.return_mean = file.id, event.return_mean
    session.flush()
    prune_checkpoints(session, run)
    return True


def set_pinned(session: Session, run: Run, checkpoint_id: int, pinned: bool) -> None:
    """Pin or unpin a checkpoint. An unpinned one may be deleted when the run saves its next checkpoint."""
    checkpoint = session.get(Checkpoint, checkpoint_id)
    if checkpoint is None or checkpoint.run_id != run.id:
        raise NotFound(f"Run {run.id} has no checkpoint {checkpoint_id}.")
    if pinned and checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was deleted, so it cannot be pinned.")
    checkpoint.pinned = pinned
    session.flush()
    notice = {"run_id": run.id}
    after_commit(session, lambda: publish("run.files", notice))


def list_resumable(session: Session, run: Run) -> Sequence[Checkpoint]:
    """Return the checkpoints to resume from, the best candidate first.

    Those of the latest attempt come first, because they supersede later ones of earlier attempts.
    """
    query = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    return session.scalars(query.order_by(Checkpoint.attempt.desc(), Checkpoint.step.desc()).limit(MAX_RESUMABLE)).all()


def frames_at_step(session: Session, run: Run, step: int) -> int:
    """Return the emulator frames at the checkpoint of a step, or 0 without one."""
    if step == 0:
        return 0
    query = select(Checkpoint.frames).where(Checkpoint.run_id == run.id, Checkpoint.step == step)
    return session.scalar(query.limit(1)) or 0


def find_kept(session: Session, run: Run, checkpoint_id: int, *, field: str, action: str) -> Checkpoint:
    """Return the checkpoint that a request names in a field.

    Raise Invalid if the run has no such checkpoint, and Conflict if its file was deleted.
    """
    checkpoint = session.get(Checkpoint, checkpoint_id)
    if checkpoint is None or checkpoint.run_id != run.id:
        raise Invalid(FieldError(field=field, message=f"run {run.id} has no such checkpoint"))
    if checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was deleted. Select one with a file to {action}.")
    return checkpoint


def copy_checkpoint(session: Session, checkpoint: Checkpoint, run: Run) -> None:
    """Copy a checkpoint with its file to another run that starts from it."""
    copy = copy_file(session, session.get_one(File, checkpoint.file_id), run.id)
    session.flush()
    session.add(
        Checkpoint(
            run_id=run.id,
            attempt=0,
            step=checkpoint.step,
            frames=checkpoint.frames,
            file=checkpoint.file,
            sha256=checkpoint.sha256,
            bytes=checkpoint.bytes,
            file_id=copy.id,
            return_mean=checkpoint.return_mean,
        )
    )

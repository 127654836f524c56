"""Checkpoints that trainers report: stored, pinned, offered to the next attempt, and copied for a fork."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.thinning import thin_out
from backend.database.engine import after_commit
from backend.database.tables import Attempt, Checkpoint, File, Run
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.files.service import Maker, copy_file, delete_files, reported_file
from backend.live.notices import publish
from backend.logs.service import note
from workers.contract import events as ev

MOST_OFFERED = 10


def keep_checkpoint(session: Session, run: Run, attempt: Attempt, event: ev.Checkpoint) -> bool:
    """Store a checkpoint, and thin out the run's others; return False if it arrived damaged."""
    named = event.checkpoint
    file = reported_file(session, Maker(run.id, attempt.attempt), named.file)
    if file.sha256 != named.sha256:
        # Kept, it would be found out only when it is needed.
        note(session, run, f"{named.file} is not kept: what arrived is not what the trainer wrote.", "warning")
        delete_files(session, [file.id])
        return False
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
    session.flush()
    thin_out(session, run)
    return True


def pin(session: Session, run: Run, checkpoint_id: int, pinned: bool) -> None:
    """Keep a checkpoint for good, or hand it back to the rule, which is applied when the next one is saved."""
    checkpoint = session.get(Checkpoint, checkpoint_id)
    if checkpoint is None or checkpoint.run_id != run.id:
        raise NotFound(f"Run {run.id} has no checkpoint {checkpoint_id}.")
    if pinned and checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was thinned out; pin one that is still kept.")
    checkpoint.pinned = pinned
    session.flush()
    notice = {"run_id": run.id}
    after_commit(session, lambda: publish("run.files", notice))


def resumable(session: Session, run: Run) -> Sequence[Checkpoint]:
    """Checkpoints to go on from, the latest attempt's first: that attempt left an earlier one's later ones behind."""
    query = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    return session.scalars(query.order_by(Checkpoint.attempt.desc(), Checkpoint.step.desc()).limit(MOST_OFFERED)).all()


def frames_at(session: Session, run: Run, step: int) -> int:
    """Emulator frames at the checkpoint of a step; 0 at the beginning."""
    if step == 0:
        return 0
    query = select(Checkpoint.frames).where(Checkpoint.run_id == run.id, Checkpoint.step == step)
    return session.scalar(query.limit(1)) or 0


def forkable(session: Session, run: Run, checkpoint_id: int) -> Checkpoint:
    """The run's checkpoint, if its file is still kept; its run is locked, so that it stays until it is copied."""
    return kept(session, run, checkpoint_id, field="checkpoint_id", do="fork")


def kept(session: Session, run: Run, checkpoint_id: int, *, field: str, do: str) -> Checkpoint:
    """The run's checkpoint that a field of a request names, if its file is kept; refused with what to `do`."""
    checkpoint = session.get(Checkpoint, checkpoint_id)
    if checkpoint is None or checkpoint.run_id != run.id:
        raise Invalid(FieldError(field=field, message=f"run {run.id} has no such checkpoint"))
    if checkpoint.file_id is None:
        raise Conflict(f"The checkpoint at step {checkpoint.step} was thinned out; {do} one that is still kept.")
    return checkpoint


def copy_checkpoint(session: Session, checkpoint: Checkpoint, run: Run) -> None:
    """Give another run its copy of a checkpoint and of the file, to begin with."""
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

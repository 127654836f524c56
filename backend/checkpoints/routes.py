"""A run's checkpoints: listed, and pinned."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.best import BestBy, evaluated
from backend.checkpoints.keeping import pin
from backend.checkpoints.thinning import KeptAs, kept_as
from backend.database import tables
from backend.database.engine import Db
from backend.web.json_numbers import JsonNumber
from backend.web.lookup import PathId, PathRun, find_run
from workers.contract.values import Truth

router = APIRouter(tags=["files"])


class RunCheckpoint(BaseModel):
    """A saved training state; once thinned out it is no longer available."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    bytes: int
    return_mean: JsonNumber | None
    best: bool
    best_by: BestBy | None = Field(
        description="By what it is the best: by whole evaluations with the run's protocol where there are some, else "
        "by the mean return of training. Null unless it is the best."
    )
    created_at: datetime
    available: bool
    pinned: bool
    kept_as: KeptAs | None = Field(
        description="Why it is kept. The first, the best and the last checkpoint stay, each with its replay, and "
        "between them others spread evenly over training, together as many as the run's setting checkpoints_kept "
        "says. Pinned ones stay beside them. Null once it was thinned out."
    )


class EditCheckpoint(BaseModel):
    """What can be changed of a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    pinned: Truth = Field(description="Whether it stays whatever the rule of thinning says.")


@router.get("/runs/{run_id}/checkpoints")
def list_checkpoints(db: Db, run: PathRun) -> list[RunCheckpoint]:
    """Saved training states by step, also those thinned out."""
    with db.read() as session:
        return _shown(session, run.id)


@router.patch("/runs/{run_id}/checkpoints/{checkpoint_id}")
def edit_checkpoint(db: Db, run_id: PathId, checkpoint_id: PathId, changes: EditCheckpoint) -> RunCheckpoint:
    """Pin a checkpoint, so that it is never thinned out, or unpin it; it then goes by the rule with the next one."""
    with db.write() as session:
        # Locked, so that it is not thinned out meanwhile.
        pin(session, find_run(session, run_id, lock=True), checkpoint_id, changes.pinned)
        return next(row for row in _shown(session, run_id) if row.id == checkpoint_id)


def _shown(session: Session, run_id: int) -> list[RunCheckpoint]:
    query = select(tables.Checkpoint).where(tables.Checkpoint.run_id == run_id)
    # Of several attempts at the same step, the newest comes last.
    by_step = query.order_by(tables.Checkpoint.step, tables.Checkpoint.attempt, tables.Checkpoint.id)
    rows = session.scalars(by_step).all()
    reasons, played = kept_as(rows), evaluated(session, session.get_one(tables.Run, run_id))
    return [_one(row, reasons.get(row.id), "evaluation" if row.id in played else "training") for row in rows]


def _one(row: tables.Checkpoint, reason: KeptAs | None, by: BestBy) -> RunCheckpoint:
    return RunCheckpoint(
        id=row.id,
        step=row.step,
        frames=row.frames,
        attempt=row.attempt,
        file_id=row.file_id,
        bytes=row.bytes,
        return_mean=row.return_mean,
        best=row.best,
        best_by=by if row.best else None,
        created_at=row.created_at,
        available=row.file_id is not None,
        pinned=row.pinned,
        kept_as=reason,
    )

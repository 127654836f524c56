"""Routes of a run's checkpoints, and the rules that schedules of evaluations and calibrations share."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.aliases import names_of_checkpoints
from arcadia_backend.checkpoints.availability import find_weights_only
from arcadia_backend.checkpoints.service import (
    BestBy,
    KeptAs,
    evaluation_scores,
    list_resumable,
    reasons_kept,
    set_pinned,
)
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Calibration, Checkpoint, Evaluation, Job, Run
from arcadia_backend.jobs import UNFINISHED
from arcadia_backend.web.formats import JsonNumber
from arcadia_backend.web.lookup import PathId, PathRun, find_run, last_started_attempt
from arcadia_workers.contract.values import Truth

# Limit unfinished scheduled evaluations of a run, and its calibrations, since each protects a checkpoint from pruning.
MAX_SCHEDULED = 10


def find_due(session: Session, run: Run, every: int, last_step: int) -> Checkpoint | None:
    """Return the newest checkpoint if it is due, or None.

    The first checkpoint at or after each multiple of `every` steps is due. `last_step` is the step of the last
    scheduled checkpoint.
    """
    newest = next(iter(list_resumable(session, run)), None)
    if newest is None or newest.step // every <= max(last_step, run.parent_step or 0) // every:
        return None
    return newest


def has_room(session: Session, run: Run, table: type[Evaluation] | type[Calibration]) -> bool:
    """Return True if a schedule may add an evaluation or a calibration of a run."""
    return _count_scheduled(session, run, table) < MAX_SCHEDULED


def can_catch_up(session: Session, run: Run, table: type[Evaluation] | type[Calibration]) -> bool:
    """Return True if a schedule has just dropped below its limit and the run's last attempt has started."""
    is_below = _count_scheduled(session, run, table) == MAX_SCHEDULED - 1
    return is_below and last_started_attempt(session, run) is not None


def _count_scheduled(session: Session, run: Run, table: type[Evaluation] | type[Calibration]) -> int:
    """Return the number of unfinished scheduled evaluations or calibrations of a run."""
    query = select(func.count()).select_from(table).join(Job, Job.id == table.job_id)
    by_schedule = (table.run_id == run.id, table.origin == "schedule")
    return session.scalar(query.where(*by_schedule, Job.state.in_(UNFINISHED))) or 0


router = APIRouter(tags=["files"])


class RunCheckpoint(BaseModel):
    """A saved training state. Pruning deletes its file, but not this entry."""

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
        description="How the best checkpoint was chosen: by evaluations with the run's protocol, or by the mean return "
        "in training if there are none. Null unless it is the best."
    )
    created_at: datetime
    available: bool
    pinned: bool
    weights_only: bool = Field(
        description="Whether its file has only the weights of the network, as in the examples. A fork of it starts "
        "its optimizer anew."
    )
    aliases: list[str] = Field(description="Names of the checkpoint, such as pong/champion.")
    kept_as: KeptAs | None = Field(
        description="Why its file is kept. A run keeps `checkpoints_kept` checkpoints with their replays: the first, "
        "the best, the last, and others spread evenly over training. Pinned ones and those with an alias are kept in "
        "addition. Null if the file was deleted."
    )


class EditCheckpoint(BaseModel):
    """Changes to a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    pinned: Truth = Field(description="True to protect the checkpoint from pruning.")


@router.get("/runs/{run_id}/checkpoints")
def list_checkpoints(db: Db, run: PathRun) -> list[RunCheckpoint]:
    """List the checkpoints of a run by step, including those without a file."""
    with db.read() as session:
        return _list(session, run.id)


@router.patch("/runs/{run_id}/checkpoints/{checkpoint_id}")
def edit_checkpoint(db: Db, run_id: PathId, checkpoint_id: PathId, changes: EditCheckpoint) -> RunCheckpoint:
    """Pin a checkpoint so that pruning never deletes it, or unpin it."""
    with db.write() as session:
        # Lock the run so that the checkpoint is not pruned in the meantime.
        set_pinned(session, find_run(session, run_id, lock=True), checkpoint_id, changes.pinned)
        return next(row for row in _list(session, run_id) if row.id == checkpoint_id)


def _list(session: Session, run_id: int) -> list[RunCheckpoint]:
    query = select(tables.Checkpoint).where(tables.Checkpoint.run_id == run_id)
    # The newest of several attempts at the same step comes last.
    by_step = query.order_by(tables.Checkpoint.step, tables.Checkpoint.attempt, tables.Checkpoint.id)
    rows = session.scalars(by_step).all()
    names = names_of_checkpoints(session, [run_id])
    reasons, scores = reasons_kept(rows, names), evaluation_scores(session, session.get_one(tables.Run, run_id))
    stripped = find_weights_only(session, rows)
    return [
        _to_schema(
            row,
            reasons.get(row.id),
            "evaluation" if row.id in scores else "training",
            names.get(row.id, []),
            weights_only=row.id in stripped,
        )
        for row in rows
    ]


def _to_schema(
    row: tables.Checkpoint, reason: KeptAs | None, by: BestBy, aliases: list[str], *, weights_only: bool
) -> RunCheckpoint:
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
        weights_only=weights_only,
        aliases=aliases,
        kept_as=reason,
    )

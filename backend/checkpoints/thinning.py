"""Which of a run's checkpoints stay: those pinned, the first, the best, the last, and others spread between them.

The rule is the trainer's (`workers/contract/thinning.py`), but the server goes by its own copies: a trainer that
resumed on another host has only some of them on its disk, and knows nothing of pins.
"""

import math
from collections.abc import Sequence
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.files.service import delete_files
from backend.models import Attempt, Checkpoint, Run
from backend.videos import delete_replays
from workers.contract.thinning import USUALLY_KEPT, spent

KeptAs = Literal["pinned", "best", "first", "last", "spread"]


def thin_out(session: Session, run: Run, attempt: Attempt) -> None:
    """Delete the files of checkpoints that go by the rule, or that the run went back behind, with their replays."""
    rows = session.scalars(
        select(Checkpoint).where(Checkpoint.run_id == run.id).order_by(Checkpoint.step, Checkpoint.id)
    ).all()
    resumed = attempt.resumed_step or 0
    current = [row for row in available(rows) if row.attempt == attempt.attempt or row.step <= resumed]
    best = max(current, key=_score, default=None)
    for row in rows:
        row.best = row is best and row.return_mean is not None
    spared = [place for place, row in enumerate(current) if row.pinned or row is best]
    # Pinned ones come on top of the number that is kept.
    most = run.config.get("checkpoints_kept", USUALLY_KEPT) + sum(row.pinned for row in current)
    gone = {current[place].id for place in spent([row.step for row in current], most, spared)}
    left_behind = {row.id for row in available(rows) if row not in current and not row.pinned}
    _delete(session, run, [row for row in rows if row.id in gone | left_behind])


def available(rows: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Those of the checkpoints whose files are kept."""
    return [row for row in rows if row.file_id is not None]


def kept_as(rows: Sequence[Checkpoint]) -> dict[int, KeptAs]:
    """By which part of the rule each of a run's checkpoints, given by step, is still there."""
    there = available(rows)
    told: dict[int, KeptAs] = {row.id: "spread" for row in there}
    if there:
        told |= {there[-1].id: "last", there[0].id: "first"}
    told |= {row.id: "best" for row in there if row.best}
    return told | {row.id: "pinned" for row in there if row.pinned}


def _delete(session: Session, run: Run, rows: Sequence[Checkpoint]) -> None:
    ids = [row.file_id for row in rows if row.file_id is not None]
    for row in rows:
        row.file_id = None
    session.flush()
    if ids:
        delete_files(session, ids)
        delete_replays(session, run, [row.file for row in rows])


def _score(row: Checkpoint) -> tuple[float, int]:
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step

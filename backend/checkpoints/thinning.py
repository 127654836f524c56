"""Which of a run's checkpoints stay: those pinned, the first, the best, the last, and others spread between them.

The rule is the trainer's (`workers/contract/thinning.py`), but the server goes by its own copies: a trainer that
resumed on another host has only some of them on its disk, and knows nothing of pins, evaluations and jobs.
"""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.best import choose_best, trained_score
from backend.checkpoints.superseded import superseded_of
from backend.database.tables import Checkpoint, Job, Run
from backend.files.service import delete_files
from backend.replays.thinning import delete_replays_of_checkpoints
from backend.web.lookup import last_started_attempt
from workers.contract.thinning import USUALLY_KEPT, spent

KeptAs = Literal["pinned", "best", "first", "last", "spread"]


def thin_out(session: Session, run: Run) -> None:
    """Delete the files of checkpoints that go by the rule, or that the run went back behind, with their replays."""
    rows = _by_step(session, run)
    current = _current(session, run, rows)
    best, trained = _mark_best(session, run, rows, current), max(current, key=trained_score, default=None)
    # These come on top of the number that is kept.
    besides = {row.id for row in current if row.pinned} | _awaited(session, run)
    spared = [place for place, row in enumerate(current) if row.id in besides or row in (best, trained)]
    most = run.config.get("checkpoints_kept", USUALLY_KEPT) + sum(row.id in besides for row in current)
    gone = {current[place].id for place in spent([row.step for row in current], most, spared)}
    left_behind = {row.id for row in available(rows) if row not in current and row.id not in besides}
    _delete(session, run, [row for row in rows if row.id in gone | left_behind and not row.pinned])


def settle(session: Session, run: Run) -> None:
    """Go by the rule again after a job, unless nobody knows yet where the run's present attempt begins."""
    if last_started_attempt(session, run) is not None:
        thin_out(session, run)


def choose_anew(session: Session, run: Run) -> None:
    """Choose the best again where some no longer count; the rule waits for the next checkpoint or job."""
    if last_started_attempt(session, run) is not None:
        rows = _by_step(session, run)
        _mark_best(session, run, rows, _current(session, run, rows))


def _by_step(session: Session, run: Run) -> Sequence[Checkpoint]:
    query = select(Checkpoint).where(Checkpoint.run_id == run.id)
    return session.scalars(query.order_by(Checkpoint.step, Checkpoint.id)).all()


def _current(session: Session, run: Run, rows: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Those that are kept and that no attempt went back behind."""
    left_behind = superseded_of(session, run.id)
    return [row for row in available(rows) if row.id not in left_behind]


def _mark_best(
    session: Session, run: Run, rows: Sequence[Checkpoint], current: Sequence[Checkpoint]
) -> Checkpoint | None:
    best = choose_best(session, run, current)
    for row in rows:
        row.best = row is best
    return best


def _awaited(session: Session, run: Run) -> set[int]:
    """Checkpoints that a job waits for or is about."""
    under_way = select(Job.checkpoint_id).where(Job.run_id == run.id, Job.state.in_(("queued", "running")))
    return set(session.scalars(under_way))


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
        delete_replays_of_checkpoints(session, run, [row.file for row in rows])

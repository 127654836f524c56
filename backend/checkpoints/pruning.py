"""Pruning of a run's checkpoints. It keeps the first, the best, the last and others between them.

Pinned ones and those with an alias are always kept.

The trainer prunes its own folder by the same rule (`workers/contract/pruning.py`). The server also needs pruning,
since a trainer that resumed on another host has only some checkpoints. It also knows no pins, evaluations and jobs.
"""

from collections.abc import Container, Sequence
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.aliases.queries import names_of_checkpoints
from backend.checkpoints.best import find_best, training_score
from backend.checkpoints.superseded import superseded_ids
from backend.database.tables import Checkpoint, Job, Run
from backend.files.service import delete_files
from backend.replays.pruning import delete_replays_of_checkpoints
from backend.web.lookup import last_started_attempt
from workers.contract.pruning import DEFAULT_KEPT, prunable

KeptAs = Literal["alias", "pinned", "best", "first", "last", "spread"]


def prune_checkpoints(session: Session, run: Run) -> None:
    """Delete the files and replays of checkpoints that the rule does not keep, and of superseded ones."""
    rows = _by_step(session, run)
    current = _current(session, run, rows)
    best, trained = _mark_best(session, run, rows, current), max(current, key=training_score, default=None)
    # These do not count toward the number of kept checkpoints.
    named = names_of_checkpoints(session, [run.id]).keys()
    extra = {row.id for row in current if row.pinned or row.id in named} | _needed_by_jobs(session, run)
    protected = [place for place, row in enumerate(current) if row.id in extra or row in (best, trained)]
    max_kept = run.config.get("checkpoints_kept", DEFAULT_KEPT) + sum(row.id in extra for row in current)
    pruned = {current[place].id for place in prunable([row.step for row in current], max_kept, protected)}
    superseded = {row.id for row in available(rows) if row not in current and row.id not in extra}
    removed = (pruned | superseded) - named
    _delete(session, run, [row for row in rows if row.id in removed and not row.pinned])


def prune_after_job(session: Session, run: Run) -> None:
    """Prune again after a job, unless the start step of the current attempt is still unknown."""
    if last_started_attempt(session, run) is not None:
        prune_checkpoints(session, run)


def update_best(session: Session, run: Run) -> None:
    """Choose the best checkpoint again, without pruning."""
    if last_started_attempt(session, run) is not None:
        rows = _by_step(session, run)
        _mark_best(session, run, rows, _current(session, run, rows))


def _by_step(session: Session, run: Run) -> Sequence[Checkpoint]:
    query = select(Checkpoint).where(Checkpoint.run_id == run.id)
    return session.scalars(query.order_by(Checkpoint.step, Checkpoint.id)).all()


def _current(session: Session, run: Run, rows: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints that have a file and are not superseded."""
    superseded = superseded_ids(session, run.id)
    return [row for row in available(rows) if row.id not in superseded]


def _mark_best(
    session: Session, run: Run, rows: Sequence[Checkpoint], current: Sequence[Checkpoint]
) -> Checkpoint | None:
    best = find_best(session, run, current)
    for row in rows:
        row.best = row is best
    return best


def _needed_by_jobs(session: Session, run: Run) -> set[int]:
    """Return the ids of the checkpoints that unfinished jobs use."""
    ids = select(Job.checkpoint_id).where(Job.run_id == run.id, Job.state.in_(("queued", "running")))
    return set(session.scalars(ids))


def available(rows: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints that have a file."""
    return [row for row in rows if row.file_id is not None]


def reasons_kept(rows: Sequence[Checkpoint], named: Container[int]) -> dict[int, KeptAs]:
    """Return why each checkpoint is kept.

    The rows are all checkpoints of a run in order of their steps, and `named` has the ids of those with an alias.
    """
    kept = available(rows)
    reasons: dict[int, KeptAs] = {row.id: "spread" for row in kept}
    if kept:
        reasons |= {kept[-1].id: "last", kept[0].id: "first"}
    reasons |= {row.id: "best" for row in kept if row.best}
    reasons |= {row.id: "pinned" for row in kept if row.pinned}
    return reasons | {row.id: "alias" for row in kept if row.id in named}


def _delete(session: Session, run: Run, rows: Sequence[Checkpoint]) -> None:
    ids = [row.file_id for row in rows if row.file_id is not None]
    for row in rows:
        row.file_id = None
    session.flush()
    if ids:
        delete_files(session, ids)
        delete_replays_of_checkpoints(session, run, [row.file for row in rows])

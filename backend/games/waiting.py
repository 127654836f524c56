"""Runs of a game that have no score yet, so that they can be evaluated."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from backend.colors import color_of
from backend.errands.service import UNDER_WAY
from backend.games.schemas import WaitingRun
from backend.models import Checkpoint, Errand, Run
from workers.contract.config.problems import title_of

MOST_SHOWN = 50


def waiting(session: Session, env: str, scored: Collection[int]) -> tuple[list[WaitingRun], int]:
    """The newest of them, without archived ones, and how many there are."""
    listed = select(Run.id).where(Run.env == env, Run.archived_at.is_(None)).order_by(Run.id.desc())
    ids = [number for number in session.scalars(listed) if number not in scored]
    evaluation = (
        select(Errand.state)
        .where(Errand.run_id == Run.id, Errand.kind == "evaluation", Errand.state.in_(UNDER_WAY))
        .order_by((Errand.state == "running").desc())
        .limit(1)
        .scalar_subquery()
    )
    kept = exists().where(Checkpoint.run_id == Run.id, Checkpoint.file_id.is_not(None))
    columns = (Run.id, Run.name, Run.algorithm, Run.state, Run.step, kept.label("kept"), evaluation.label("evaluation"))
    rows = session.execute(select(*columns).where(Run.id.in_(ids[:MOST_SHOWN])).order_by(Run.id.desc()))
    return [_shown(row) for row in rows], len(ids)


def _shown(row: Any) -> WaitingRun:
    return WaitingRun(
        id=row.id,
        name=row.name,
        method=title_of(row.algorithm),
        color=color_of(row.id),
        state=row.state,
        step=row.step,
        has_checkpoint=row.kept,
        evaluation=row.evaluation,
    )

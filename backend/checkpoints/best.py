"""Which checkpoint is the best: by its evaluation where there is one, else by the return in training."""

import math
from collections.abc import Sequence
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.models import Checkpoint, Errand, Evaluation, Run
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.evaluation import protocol_of
from workers.contract.protocols import PROTOCOLS

BestBy = Literal["evaluation", "training"]


def choose_best(session: Session, run: Run, rows: Sequence[Checkpoint]) -> Checkpoint | None:
    """The best of these; None where nothing tells how good any of them is."""
    scores = evaluated(session, run)
    if played := [row for row in rows if row.id in scores]:
        return max(played, key=lambda row: (scores[row.id], row.step))
    return max((row for row in rows if row.return_mean is not None), key=trained_score, default=None)


def evaluated(session: Session, run: Run) -> dict[int, float]:
    """The newest score of each checkpoint that was evaluated as the run's schedule does it; others do not compare."""
    protocol, usual = protocol_of(run.config), CONFIGURATIONS[run.algorithm].usual_acting.model_dump(mode="json")
    query = select(Evaluation.checkpoint_id, Evaluation.mean, Evaluation.acting).join(Errand)
    query = query.where(
        Evaluation.run_id == run.id,
        Evaluation.mean.is_not(None),
        Evaluation.protocol == protocol,
        Errand.total >= PROTOCOLS[protocol].episodes,
    )
    scores = {r.checkpoint_id: r.mean for r in session.execute(query.order_by(Evaluation.id)) if r.acting == usual}
    return {number: score for number, score in scores.items() if not math.isnan(score)}


def trained_score(row: Checkpoint) -> tuple[float, int]:
    """How good a checkpoint's training was, and how late."""
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step

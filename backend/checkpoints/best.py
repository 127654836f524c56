"""Which checkpoint is the best: by its evaluation where there is one, else by the return in training."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.superseded import superseded
from backend.database.tables import Checkpoint, Evaluation, Job, Run
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
    return {number: found.score for number, found in comparable(session, run).items()}


class Scored(NamedTuple):
    """An evaluation by its number, with its score and the step of its checkpoint."""

    score: float
    step: int
    evaluation_id: int


def comparable(session: Session, run: Run) -> dict[int, Scored]:
    """By checkpoint, its newest finished evaluation that compares with others."""
    protocol, usual = protocol_of(run.config), CONFIGURATIONS[run.algorithm].usual_acting.model_dump(mode="json")
    query = select(Evaluation.id, Evaluation.checkpoint_id, Evaluation.step, Evaluation.mean, Evaluation.acting)
    query = query.join(Job).join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
    query = query.where(
        Evaluation.run_id == run.id,
        ~superseded(),
        Evaluation.mean.is_not(None),
        # Until it is done, what an attempt has found may be discarded yet.
        Job.state == "done",
        Evaluation.protocol == protocol,
        Job.total >= PROTOCOLS[protocol].episodes,
    )
    rows = [row for row in session.execute(query.order_by(Evaluation.id)) if row.acting == usual]
    newest = {row.checkpoint_id: Scored(row.mean, row.step, row.id) for row in rows}
    return {number: found for number, found in newest.items() if not math.isnan(found.score)}


def trained_score(row: Checkpoint) -> tuple[float, int]:
    """How good a checkpoint's training was, and how late."""
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step

"""The best checkpoint of a run: by its evaluation score, or else by its mean return in training."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.checkpoints.playing import usual_acting_of, usual_protocol_of
from backend.checkpoints.superseded import is_superseded
from backend.database.tables import Checkpoint, Evaluation, Job, Run
from workers.contract.protocols import PROTOCOLS

BestBy = Literal["evaluation", "training"]


def find_best(session: Session, run: Run, rows: Sequence[Checkpoint]) -> Checkpoint | None:
    """Return the best of the checkpoints, or None if none has a score."""
    scores = evaluation_scores(session, run)
    if evaluated := [row for row in rows if row.id in scores]:
        return max(evaluated, key=lambda row: (scores[row.id], row.step))
    return max((row for row in rows if row.return_mean is not None), key=training_score, default=None)


def evaluation_scores(session: Session, run: Run) -> dict[int, float]:
    """Return the newest comparable score of each evaluated checkpoint."""
    return {number: found.score for number, found in comparable_evaluations(session, run).items()}


class EvaluationScore(NamedTuple):
    """Score of an evaluation, with the step of its checkpoint."""

    score: float
    step: int
    evaluation_id: int


def comparable_evaluations(session: Session, run: Run) -> dict[int, EvaluationScore]:
    """Return the newest finished evaluation of each checkpoint, if it was made as the run's schedule does it.

    Only such evaluations are comparable: the run's protocol, the usual way to act, and all episodes.
    """
    if not run.has_agent:
        return {}
    protocol, usual = usual_protocol_of(run), usual_acting_of(run).model_dump(mode="json")
    query = select(Evaluation.id, Evaluation.checkpoint_id, Evaluation.step, Evaluation.mean, Evaluation.acting)
    query = query.join(Job).join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
    query = query.where(
        Evaluation.run_id == run.id,
        ~is_superseded(),
        Evaluation.mean.is_not(None),
        # The result of an unfinished job may still be discarded.
        Job.state == "done",
        Evaluation.protocol == protocol,
        Job.total >= PROTOCOLS[protocol].episodes,
    )
    rows = [row for row in session.execute(query.order_by(Evaluation.id)) if row.acting == usual]
    newest = {row.checkpoint_id: EvaluationScore(row.mean, row.step, row.id) for row in rows}
    return {number: found for number, found in newest.items() if not math.isnan(found.score)}


def training_score(row: Checkpoint) -> tuple[float, int]:
    """Return the mean return in training and the step, to sort by."""
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step

"""The best checkpoint of a run: by its evaluation score, or else by its mean return in training."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

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
    return comparable_evaluations_of(session, [run])[run.id]


def comparable_evaluations_of(session: Session, runs: Sequence[Run]) -> dict[int, dict[int, EvaluationScore]]:
    """Return the comparable evaluations of each run, by checkpoint."""
    with_agent = {run.id: run for run in runs if run.has_agent}
    columns = (Evaluation.run_id, Evaluation.id, Evaluation.checkpoint_id, Evaluation.step, Evaluation.mean)
    query = select(*columns, Evaluation.protocol, Evaluation.acting, Job.total)
    query = query.join(Job).join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
    # The result of an unfinished job may still be discarded.
    finished = (~is_superseded(), Evaluation.mean.is_not(None), Job.state == "done")
    query = query.where(Evaluation.run_id.in_(with_agent), *finished)
    newest: dict[int, dict[int, EvaluationScore]] = {run.id: {} for run in runs}
    for row in session.execute(query.order_by(Evaluation.id)):
        if _is_comparable(with_agent[row.run_id], row):
            newest[row.run_id][row.checkpoint_id] = EvaluationScore(row.mean, row.step, row.id)
    return {
        run_id: {number: found for number, found in each.items() if not math.isnan(found.score)}
        for run_id, each in newest.items()
    }


def _is_comparable(run: Run, row: Any) -> bool:
    """Return True if a row of an evaluation has the run's protocol, the usual way to act, and all episodes."""
    if row.protocol != usual_protocol_of(run) or row.acting != usual_acting_of(run).model_dump(mode="json"):
        return False
    protocol = PROTOCOLS.get(row.protocol)
    # A protocol of a missing plug-in has an unknown number of episodes.
    return protocol is None or row.total >= protocol.episodes


def training_score(row: Checkpoint) -> tuple[float, int]:
    """Return the mean return in training and the step, to sort by."""
    score = -math.inf if row.return_mean is None or math.isnan(row.return_mean) else row.return_mean
    return score, row.step

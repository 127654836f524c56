"""Evaluations: returns of episodes played apart from training."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import models
from backend.db import Db
from backend.json_numbers import JsonNumber
from backend.lookup import KnownRun
from backend.models import Attempt, Run
from workers.contract import events as ev

router = APIRouter(tags=["files"])


class RunEvaluation(BaseModel):
    """Returns of episodes played apart from training. NaN and the infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    id: int
    step: int
    frames: int
    attempt: int
    returns: list[JsonNumber]
    return_mean: JsonNumber | None
    created_at: datetime


def keep_evaluation(session: Session, run: Run, attempt: Attempt, event: ev.Evaluation) -> None:
    """Store the returns of an evaluation."""
    session.add(
        models.Evaluation(
            run_id=run.id,
            attempt=attempt.attempt,
            seq=event.seq,
            step=event.step,
            frames=event.frames,
            returns=event.returns,
            return_mean=sum(event.returns) / len(event.returns) if event.returns else None,
        )
    )


@router.get("/runs/{run_id}/evaluations")
def list_evaluations(db: Db, run: KnownRun) -> list[RunEvaluation]:
    """Returns of episodes played apart from training, by step."""
    query = select(models.Evaluation).where(models.Evaluation.run_id == run.id)
    by_step = query.order_by(models.Evaluation.step, models.Evaluation.attempt, models.Evaluation.id)
    with db.read() as session:
        return [RunEvaluation.model_validate(row) for row in session.scalars(by_step)]

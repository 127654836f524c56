"""Results of a study: the mean return of each point over its seeds, with its interval."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run, Study, StudyPoint, StudyRun
from workers.contract.inference.samples import center_curve
from workers.contract.worker_api import ENDED, State

# Excludes infinities and NaN, which PostgreSQL treats as larger than all numbers.
LARGEST_FLOAT = sys.float_info.max


@dataclass(frozen=True)
class PlannedRun:
    """A planned run of a study. Its state is None if it is not created yet or was purged."""

    seed: int
    run_id: int | None
    state: State | None
    step: int
    total_steps: int
    score: float | None
    env: str | None = None

    @property
    def has_ended(self) -> bool:
        """Return True if the run has ended or was purged."""
        return self.run_id is not None and self.state in (None, *ENDED)

    @property
    def is_scored(self) -> bool:
        """Return True if the run has finished with a score, which counts for its point."""
        return self.state == "finished" and self.score is not None


@dataclass(frozen=True)
class Point:
    """A point with its runs. The mean is over finished runs. An interval requires at least three of them."""

    number: int
    draw: Sequence[float]
    runs: Sequence[PlannedRun]
    n: int
    mean: float | None
    low: float | None
    high: float | None


def load_points(session: Session, study: Study) -> list[Point]:
    """Return all points of a study in the order they were drawn."""
    runs_by_point = load_planned_runs(session, study)
    query = select(StudyPoint.number, StudyPoint.draw).where(StudyPoint.study_id == study.id)
    rows = session.execute(query.order_by(StudyPoint.number)).all()
    runs = [runs_by_point.get(row.number, []) for row in rows]
    # One column per point.
    scores = np.full((max(map(len, runs), default=0), len(rows)), np.nan)
    for place, each in enumerate(runs):
        found = [run.score for run in each if run.is_scored]
        scores[: len(found), place] = found
    curve = center_curve(scores, "mean")
    return [
        Point(row.number, row.draw, each, int(n), _finite(center), *map(_finite, ends))
        for row, each, n, center, *ends in zip(rows, runs, curve.runs, curve.center, *curve.interval, strict=True)
    ]


def best_points(session: Session, study: Study, count: int) -> list[int]:
    """Return the numbers of the points with the largest means."""
    scored = [point for point in load_points(session, study) if point.mean is not None]
    return [point.number for point in sorted(scored, key=lambda point: -(point.mean or 0))[:count]]


def best_means(session: Session, study_ids: Sequence[int]) -> dict[int, float]:
    """Return each study's best mean return over its points."""
    query = (
        select(StudyRun.study_id, func.avg(Run.last_return))
        .join(Run, Run.id == StudyRun.run_id)
        .where(
            StudyRun.study_id.in_(study_ids),
            Run.state == "finished",
            Run.last_return.between(-LARGEST_FLOAT, LARGEST_FLOAT),
        )
        .group_by(StudyRun.study_id, StudyRun.point)
    )
    found: dict[int, float] = {}
    for study_id, mean in session.execute(query):
        if (value := _finite(mean)) is not None:
            found[study_id] = max(found.get(study_id, value), value)
    return found


def load_planned_runs(session: Session, study: Study) -> dict[int, list[PlannedRun]]:
    """Return the runs of each point in the order of their seeds."""
    columns = (Run.state, Run.step, Run.total_steps, Run.last_return, Run.env)
    query = (
        select(StudyRun.point, StudyRun.seed, StudyRun.run_id, *columns)
        .outerjoin(Run, Run.id == StudyRun.run_id)
        .where(StudyRun.study_id == study.id)
        .order_by(StudyRun.point, StudyRun.seed)
    )
    found: dict[int, list[PlannedRun]] = {}
    for row in session.execute(query):
        progress = row.step or 0, row.total_steps or 0
        run = PlannedRun(row.seed, row.run_id, row.state, *progress, _finite(row.last_return), row.env)
        found.setdefault(row.point, []).append(run)
    return found


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None

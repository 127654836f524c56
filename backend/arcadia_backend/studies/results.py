"""Results of a study: the mean return of each point over its seeds with its interval, and when they are certain."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run, Study, StudyPoint, StudyRun
from arcadia_backend.studies.specification import Specification
from arcadia_workers.contract.games import env_title, score_bounds
from arcadia_workers.contract.inference.elimination import PointEvidence, eliminate
from arcadia_workers.contract.inference.means import Floats, t_interval
from arcadia_workers.contract.worker_api import ENDED, State

# Excludes infinities and NaN, which PostgreSQL treats as larger than all numbers.
LARGEST_FLOAT = sys.float_info.max
# Rank of a failed run: below all finite returns.
LOWEST = -LARGEST_FLOAT


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
    # Failed runs, which the mean leaves out.
    failed: int
    mean: float | None
    low: float | None
    high: float | None


def load_points(session: Session, study: Study) -> list[Point]:
    """Return all points of a study in the order they were drawn."""
    runs_by_point = load_planned_runs(session, study)
    query = select(StudyPoint.number, StudyPoint.draw).where(StudyPoint.study_id == study.id)
    rows = session.execute(query.order_by(StudyPoint.number)).all()
    runs = [runs_by_point.get(row.number, []) for row in rows]
    return [_to_point(row.number, row.draw, each) for row, each in zip(rows, runs, strict=True)]


def _to_point(number: int, draw: Sequence[float], runs: Sequence[PlannedRun]) -> Point:
    scores = scores_of(runs)
    mean = _finite(float(np.mean(scores))) if scores else None
    low, high = t_interval(scores, score_bounds(_env(runs) or "")) or (None, None)
    return Point(number, draw, runs, len(scores), count_failed(runs), mean, _finite(low), _finite(high))


def scores_of(runs: Sequence[PlannedRun]) -> list[float]:
    """Return the scores of the finished runs."""
    return [run.score for run in runs if run.is_scored and run.score is not None]


def best_points(session: Session, study: Study, spec: Specification, count: int) -> list[int]:
    """Return the numbers of the points with the largest means. Points that are decided to rank lower do not count."""
    points = load_points(session, study)
    decisions = decide(spec, {point.number: point.runs for point in points}) if spec.until else {}
    beaten = {number for number, each in decisions.items() if each.beaten_by is not None}
    scored = [point for point in points if point.mean is not None and point.number not in beaten]
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
    means: dict[int, float] = {}
    for study_id, mean in session.execute(query):
        if (value := _finite(mean)) is not None:
            means[study_id] = max(means.get(study_id, value), value)
    return means


def load_planned_runs(session: Session, study: Study) -> dict[int, list[PlannedRun]]:
    """Return the runs of each point in the order of their seeds."""
    columns = (Run.state, Run.step, Run.total_steps, Run.last_return, Run.env)
    query = (
        select(StudyRun.point, StudyRun.seed, StudyRun.run_id, *columns)
        .outerjoin(Run, Run.id == StudyRun.run_id)
        .where(StudyRun.study_id == study.id)
        .order_by(StudyRun.point, StudyRun.seed)
    )
    runs_by_point: dict[int, list[PlannedRun]] = {}
    for row in session.execute(query):
        progress = row.step or 0, row.total_steps or 0
        run = PlannedRun(row.seed, row.run_id, row.state, *progress, _finite(row.last_return), row.env)
        runs_by_point.setdefault(row.point, []).append(run)
    return runs_by_point


def count_failed(runs: Sequence[PlannedRun]) -> int:
    """Return how many runs have failed."""
    return sum(run.state == "failed" for run in runs)


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


DecisionState = Literal["undecided", "decided", "limit_reached"]

RunsByPoint = Mapping[int, Sequence[PlannedRun]]

MAX_NAMES = 3


@dataclass(frozen=True)
class Decision:
    """Decision on a point: ranked lower than another, the only one left in its environment, or undecided."""

    state: DecisionState
    # None until the point has a run.
    env: str | None
    # Number of the point that beats this one, or None.
    beaten_by: int | None
    evidence: PointEvidence
    # Mean score of its finished runs, or None.
    mean: float | None
    failed: int


def decide(spec: Specification, runs_by_point: RunsByPoint) -> dict[int, Decision]:
    """Return the decision on each point. Only points of the same environment compete."""
    numbers = [*runs_by_point]
    envs = [_env(runs_by_point[number]) for number in numbers]
    evidence = eliminate(_ranked_scores([*runs_by_point.values()]), envs)
    undecided = {index for index, each in enumerate(evidence) if each.beaten_by is None}
    decisions = {}
    for index, (number, each) in enumerate(zip(numbers, evidence, strict=True)):
        has_rival = any(envs[other] == envs[index] for other in undecided - {index})
        is_decided = index not in undecided or not has_rival
        is_full = len(runs_by_point[number]) >= spec.seed_limit
        state: DecisionState = "decided" if is_decided else "limit_reached" if is_full else "undecided"
        beaten_by = None if each.beaten_by is None else numbers[each.beaten_by]
        scores, failed = scores_of(runs_by_point[number]), count_failed(runs_by_point[number])
        mean = float(np.mean(scores)) if scores else None
        decisions[number] = Decision(state, envs[index], beaten_by, each, mean, failed)
    return decisions


def undecided_points(spec: Specification, runs_by_point: RunsByPoint) -> list[int]:
    """Return the points that get another seed once all runs have ended."""
    return [number for number, each in decide(spec, runs_by_point).items() if each.state == "undecided"]


def describe(spec: Specification, decisions: Mapping[int, Decision], labels: Mapping[int, str]) -> str:
    """Return the verdict in each environment as sentences."""
    envs = dict.fromkeys(each.env for each in decisions.values())
    sentences = []
    for env in envs:
        own = {number: each for number, each in decisions.items() if each.env == env}
        prefix = f"{env_title(env)}: " if len(envs) > 1 and env is not None else ""
        sentences.append(prefix + _describe_environment(spec, own, labels))
    return " ".join(sentences)


def _describe_environment(spec: Specification, decisions: Mapping[int, Decision], labels: Mapping[int, str]) -> str:
    if len(decisions) == 1:
        return "There is nothing to compare."
    left = [number for number, each in decisions.items() if each.beaten_by is None]
    if len(left) == 1:
        verdict = f"{labels[left[0]]} ranks highest: the runs of every other point tend to score lower."
    else:
        is_full = all(decisions[number].state == "limit_reached" for number in left)
        limit = f" at the limit of {spec.seed_limit} seeds" if is_full else ""
        verdict = f"Undecided{limit}: {_join([labels[number] for number in left])}."
    return verdict + _describe_failures(decisions, labels) + _describe_means(decisions, labels)


def _describe_failures(decisions: Mapping[int, Decision], labels: Mapping[int, str]) -> str:
    """Return a sentence about failed runs, or an empty text."""
    failed = [f"{each.failed} of {labels[number]}" for number, each in decisions.items() if each.failed]
    return f" Failed runs rank lowest, and means leave them out: {_join(failed)}." if failed else ""


def _describe_means(decisions: Mapping[int, Decision], labels: Mapping[int, str]) -> str:
    """Return a warning if a point that ranks lower has a higher mean than the point that beats it, or an empty text."""
    means = {number: each.mean for number, each in decisions.items() if each.mean is not None}
    pairs = [
        (number, each.beaten_by)
        for number, each in decisions.items()
        if each.beaten_by in means and number in means and means[number] > means[each.beaten_by]
    ]
    if not pairs:
        return ""
    lower, higher = max(pairs, key=lambda pair: means[pair[0]])
    return (
        f" The means disagree: {labels[lower]} has a mean of {means[lower]:.4g}, and {labels[higher]}, which ranks "
        f"higher, one of {means[higher]:.4g}. Ranks do not count how large a score is."
    )


def _join(names: Sequence[str]) -> str:
    """Return the first names of a list as text."""
    if len(names) == 1:
        return names[0]
    *first, last = [*names[:MAX_NAMES], f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else names
    return f"{', '.join(first)} and {last}"


def _env(runs: Sequence[PlannedRun]) -> str | None:
    """Return the environment of a point. It is unknown until the point has a run."""
    return next((run.env for run in runs if run.env is not None), None)


def _ranked_scores(runs: Sequence[Sequence[PlannedRun]]) -> Floats:
    """Return the scores of each point for a test of ranks. A failed run ranks lowest.

    Without it, a method that often fails and is a little better otherwise would rank highest.
    """
    scores_by_point = [
        [LOWEST if run.state == "failed" else run.score for run in each if run.is_scored or run.state == "failed"]
        for each in runs
    ]
    scores = np.full((len(scores_by_point), max(map(len, scores_by_point), default=0)), np.nan)
    for row, each in zip(scores, scores_by_point, strict=True):
        row[: len(each)] = each
    return scores

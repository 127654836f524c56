"""Which of some settings is best: in words, with how sure it is, and none where there are too few seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, SupportsFloat

import numpy as np
from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db import Db
from backend.metrics.curves import RunView, Window, extent, read_curve, run_views
from backend.metrics.models import MetricSeries
from backend.models import Run
from backend.runs.labels import group_names
from backend.runs.seeds import seed_groups
from backend.runs.selection import RunIds, selected
from backend.statistics import Floats, interval, mean, probability_of_improvement, welch
from workers.contract.metrics import EPISODE_RETURN

router = APIRouter(tags=["compare"])

# Fewer tell nothing of how much seeds differ.
FEWEST = 3
# A run's score at a step is its mean return over this last part of its steps until then.
PART = 0.1
# A run that ended so little before the step has reached it.
NEARLY = 0.01


class Estimate(BaseModel):
    """A value with its 95 % interval."""

    value: float
    low: float | None = Field(description="Null below n = 3.")
    high: float | None


class Standing(BaseModel):
    """What runs that differ in their seed alone have come to at the step."""

    name: str
    run_ids: list[int] = Field(description="All of the group, those too that have not reached the step.")
    n: int = Field(description="How many have reached the step.")
    mean: Estimate | None = Field(description="With its stratified bootstrap interval.")
    missing: int = Field(description="How many more seeds a verdict takes.")


class Duel(BaseModel):
    """The best group beside another."""

    best: int = Field(description="The place of the best in `standings`.")
    other: int
    words: str
    shown: bool = Field(description="Whether the interval of the difference leaves out zero.")
    difference: Estimate | None = Field(description="Of the means, with Welch's interval.")
    probability: Estimate | None = Field(
        description="How probable it is that a run of the best scores more than one of the other; a tie counts half."
    )


class Verdict(BaseModel):
    """Groups of runs by their mean return at a step, and the best beside each other."""

    at: int | None = Field(description="The step; null where there is nothing to compare.")
    standings: list[Standing] = Field(description="The best first; those without a score last.")
    duels: list[Duel]
    words: str = Field(description="Why there is nothing to compare; empty otherwise.")


@dataclass(frozen=True)
class Scored:
    """A group and the scores of those of its runs that have reached the step."""

    name: str
    runs: Sequence[Run]
    scores: Floats

    @property
    def missing(self) -> int:
        """How many more seeds a verdict takes."""
        return max(0, FEWEST - len(self.scores))


@router.get("/compare/verdict")
def judge_runs(
    db: Db,
    runs: RunIds,
    at: Annotated[
        int | None,
        Query(ge=1, le=2**53, description="At which step; without it the last that enough runs of each group reached."),
    ] = None,
) -> Verdict:
    """Which settings have the largest mean return at a step: runs that differ in their seed alone are one group."""
    with db.read() as session:
        return verdict(session, selected(session, runs), at)


def verdict(session: Session, runs: Sequence[Run], at: int | None) -> Verdict:
    """The verdict on runs; runs of several games are not compared."""
    groups = seed_groups(runs)
    if len({run.env for run in runs}) > 1:
        return _nothing("Returns of different games are not compared.")
    if len(groups) == 1:
        return _nothing("These runs differ in their seed alone, so there is nothing to compare them with.")
    ids = [run.id for run in runs]
    found = select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id.in_(ids))
    every = {series.run_id: series for series in session.scalars(found)}
    views = run_views(session, list(every))
    reached = {run_id: extent(session, series, views[run_id], "step").high for run_id, series in every.items()}
    step = at or common_step([[reached.get(run.id, 0.0) for run in group] for group in groups])
    if step < 1:
        return _nothing("Not every group has a run with a finished episode yet.")
    scored = [
        Scored(name, group, _scores(session, [every[run.id] for run in group if run.id in every], views, reached, step))
        for name, group in zip(group_names(groups), groups, strict=True)
    ]
    scored.sort(key=lambda each: -each.scores.mean() if len(each.scores) else math.inf)
    best, *others = scored
    duels = [_duel(best, other, place, step) for place, other in enumerate(others, 1)]
    return Verdict(at=step, standings=[_standing(each) for each in scored], duels=duels, words="")


def common_step(reached: Sequence[Sequence[float]]) -> int:
    """The last step that in each group as many runs have reached as a verdict takes, or all of fewer."""
    return int(min(sorted(steps, reverse=True)[:FEWEST][-1] for steps in reached))


def _scores(
    session: Session, every: Sequence[MetricSeries], views: dict[int, RunView], reached: dict[int, float], step: int
) -> Floats:
    """The mean return of each run in the last part of its steps until this one."""
    window = Window("step", step * (1 - PART), step)
    scores = []
    for series in every:
        if reached[series.run_id] < step * (1 - NEARLY):
            continue
        curve = read_curve(session, series, views[series.run_id], window)
        finite = np.isfinite(curve.mean)
        if finite.any():
            scores.append(float(np.average(curve.mean[finite], weights=curve.count[finite])))
    return np.array(scores)


def _standing(group: Scored) -> Standing:
    scores = group.scores
    low, high = interval(mean, scores[:, np.newaxis]) if not group.missing else (None, None)
    return Standing(
        name=group.name,
        run_ids=[run.id for run in group.runs],
        n=len(scores),
        mean=_estimate(scores.mean(), low, high) if len(scores) else None,
        missing=group.missing,
    )


def _duel(best: Scored, other: Scored, place: int, step: int) -> Duel:
    at, n = f"at {in_words(step)} steps", f"n = {len(best.scores)} and {len(other.scores)}"
    if best.missing or other.missing:
        words = f"No verdict on {best.name} and {other.name} {at}: {n}, and each needs {FEWEST} seeds."
        return Duel(best=0, other=place, words=words, shown=False, difference=None, probability=None)
    difference = welch(best.scores, other.scores)
    one, two = best.scores[:, np.newaxis], other.scores[:, np.newaxis]
    shown = difference.low > 0
    names = (
        f"{best.name} beats {other.name}" if shown else f"Neither {best.name} nor {other.name} is shown to be better"
    )
    more, low, high = (in_figures(number) for number in difference)
    around = f"+{more}, 95 % interval [{low}, {high}]"
    return Duel(
        best=0,
        other=place,
        words=f"{names} {at}: {around}, {n}.",
        shown=shown,
        difference=_estimate(*difference),
        probability=_estimate(probability_of_improvement(one, two), *interval(probability_of_improvement, one, two)),
    )


def _estimate(value: SupportsFloat, low: SupportsFloat | None, high: SupportsFloat | None) -> Estimate:
    low, high = (None if end is None else float(end) for end in (low, high))
    return Estimate(value=float(value), low=low, high=high)


def in_figures(number: float) -> str:
    """A difference of returns in three figures: 0.681, −12.3, 1,234."""
    told = f"{number:,.0f}" if abs(number) >= 1_000 else f"{number:.3g}"
    return told.replace("-", "−")


def in_words(count: int) -> str:
    """A number of steps in three figures: 950, 99.9 k, 1.25 M."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return str(count)


def _nothing(words: str) -> Verdict:
    return Verdict(at=None, standings=[], duels=[], words=words)

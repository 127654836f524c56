"""Which of some settings is best: in words, with how sure it is, and none where there are too few seeds."""

import math
from collections.abc import Sequence
from typing import SupportsFloat

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from backend.colors import Dash, Stroke
from backend.comparisons.groups import fields_named, groups_of, strokes_of
from backend.comparisons.scores import FEWEST, Scored, scored_groups
from backend.comparisons.selection import AtStep, GroupBy, MissingRuns, RunIds, missing_from, selected
from backend.comparisons.statistics import curve, interval, probability_of_improvement, welch
from backend.database.engine import Db
from backend.database.tables import Run

router = APIRouter(tags=["compare"])


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
    color: str = Field(description="The group's color in figures of the same runs.")
    dash: Dash


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
    quantity: str = Field(description="What is compared, as a sentence; empty where there is nothing to compare.")
    words: str = Field(description="Why there is nothing to compare; empty otherwise.")
    missing: MissingRuns = []


@router.get("/compare/verdict")
def judge_runs(
    db: Db,
    runs: RunIds,
    at: AtStep = None,
    group_by: GroupBy = "",
) -> Verdict:
    """Which settings have the largest mean return at a step: runs that differ in their seed alone are one group."""
    with db.read() as session:
        named = selected(session, runs)
        found = verdict(session, named, at, fields_named(group_by, named))
    return found.model_copy(update={"missing": missing_from(named, runs)})


def verdict(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> Verdict:
    """The verdict on runs; runs of several games are not compared."""
    if len({run.env for run in runs}) > 1:
        return _nothing("Returns of different games are not compared.")
    if len(groups_of(runs, by)) == 1:
        alike = "agree in the fields that they are grouped by" if by else "differ in their seed alone"
        return _nothing(f"These runs {alike}, so there is nothing to compare them with.")
    step, scored = scored_groups(session, runs, at, by)
    if not scored:
        return _nothing("Not every group has a run with a finished episode yet.")
    scored.sort(key=lambda each: -each.scores.mean() if len(each.scores) else math.inf)
    best, *others = scored
    duels = [_duel(best, other, place, step) for place, other in enumerate(others, 1)]
    drawn = strokes_of(groups_of(runs, by))
    standings = [_standing(each, drawn[each.runs[0].id]) for each in scored]
    return Verdict(at=step, standings=standings, duels=duels, quantity=_quantity(best, step), words="")


def _quantity(group: Scored, step: int) -> str:
    if group.final:
        return "Mean return of the last 100 episodes of each finished run."
    return f"Mean return over the last tenth of the first {in_words(step)} steps."


def _standing(group: Scored, stroke: Stroke) -> Standing:
    scores = group.scores
    ends = curve(scores[:, np.newaxis], "mean").interval if not group.missing else None
    low, high = (ends.low[0], ends.high[0]) if ends else (None, None)
    return Standing(
        name=group.name,
        run_ids=[run.id for run in group.runs],
        n=len(scores),
        mean=_estimate(scores.mean(), low, high) if len(scores) else None,
        missing=group.missing,
        color=stroke.color,
        dash=stroke.dash,
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
    told = f"{number:,.0f}" if _in_three_figures(number) >= 1_000 else f"{number:.3g}"
    return told.replace("-", "−")


def in_words(count: int) -> str:
    """A number of steps in three figures: 950, 99.9 k, 1.25 M."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if _in_three_figures(count) >= size:
            return f"{count / size:.3g}{letter}"
    return str(count)


def _in_three_figures(number: float) -> float:
    """How large a number is once it is rounded."""
    return float(f"{abs(number):.3g}")


def _nothing(words: str) -> Verdict:
    return Verdict(at=None, standings=[], duels=[], quantity="", words=words)

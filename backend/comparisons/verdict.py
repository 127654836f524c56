"""The verdict on groups of runs: their ranking, and whether the best is significantly better than each other group."""

import math
from collections.abc import Sequence
from typing import SupportsFloat

import numpy as np
from sqlalchemy.orm import Session

from backend.colors import Stroke
from backend.comparisons.groups import group_runs, strokes_by_run
from backend.comparisons.repeated_looks import describe_repeated_looks
from backend.comparisons.schemas import Estimate, GroupStanding, PairVerdict, Verdict
from backend.comparisons.scores import GroupScores, load_group_scores
from backend.database.tables import Run
from workers.contract.inference.means import MIN_RUNS, MeanDifference, best_against_others, t_interval
from workers.contract.inference.samples import MIN_IMPROVEMENT_RUNS, interval, probability_of_improvement


def judge(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> Verdict:
    """Return the verdict on runs of one environment."""
    if len({run.env for run in runs}) > 1:
        return _empty("Returns in different environments cannot be compared.")
    groups = group_runs(runs, by)
    if len(groups) == 1:
        reason = "agree in the fields that they are grouped by" if by else "differ only in their seed"
        return _empty(f"There is nothing to compare: these runs {reason}.")
    step, scored = load_group_scores(session, runs, at, by)
    if not scored:
        return _empty("At least one group has no run with a finished episode yet.")
    scored.sort(key=lambda each: -each.scores.mean() if len(each.scores) else math.inf)
    best, *others = scored
    strokes = strokes_by_run(groups)
    known = [] if best.seeds_missing else [each for each in scored if not each.seeds_missing]
    differences = best_against_others([each.scores for each in known]) if known else []
    by_group = dict(zip([each.name for each in known[1:]], differences, strict=True))
    return Verdict(
        at=step,
        standings=[_to_standing(each, strokes[each.runs[0].id]) for each in scored],
        pairs=[
            _compare_pair(session, best, other, index, step, by_group.get(other.name))
            for index, other in enumerate(others, 1)
        ],
        quantity=_quantity(best, step),
        message="",
    )


def _quantity(group: GroupScores, step: int) -> str:
    if group.final:
        return "Mean return of the last 100 episodes of each finished run."
    return f"Mean return over the last tenth of the first {format_count(step)} steps."


def _to_standing(group: GroupScores, stroke: Stroke) -> GroupStanding:
    scores = group.scores
    ends = t_interval(scores.tolist())
    low, high = ends or (None, None)
    return GroupStanding(
        name=group.name,
        run_ids=[run.id for run in group.runs],
        n=len(scores),
        failed=group.failed,
        mean=_estimate(scores.mean(), low, high) if len(scores) else None,
        seeds_missing=group.seeds_missing,
        color=stroke.color,
        dash=stroke.dash,
    )


def _compare_pair(
    session: Session, best: GroupScores, other: GroupScores, index: int, step: int, difference: MeanDifference | None
) -> PairVerdict:
    at, n = f"at {format_count(step)} steps", f"n = {len(best.scores)} and {len(other.scores)}"
    left_out = _describe_failures(best, other)
    if difference is None:
        text = f"No verdict on {best.name} and {other.name} {at}: {n}, and each needs {MIN_RUNS} seeds.{left_out}"
        return PairVerdict(
            best=0, other=index, text=text, warning="", significant=False, difference=None, probability=None
        )
    significant = difference.low > 0
    names = (
        f"{best.name} beats {other.name}"
        if significant
        else f"No difference between {best.name} and {other.name} is shown"
    )
    mean, low, high = (format_difference(number) for number in difference)
    one, two = best.scores[:, np.newaxis], other.scores[:, np.newaxis]
    # With fewer runs, a bootstrap of ranks covers far less than 95 %.
    is_enough = min(len(one), len(two)) >= MIN_IMPROVEMENT_RUNS
    ends = interval(probability_of_improvement, one, two) if is_enough else (None, None)
    return PairVerdict(
        best=0,
        other=index,
        text=f"{names} {at}: +{mean}, 95 % interval [{low}, {high}], {n}.{left_out}",
        warning=describe_repeated_looks(session, best, other) if significant else "",
        significant=significant,
        difference=_estimate(*difference),
        probability=_estimate(probability_of_improvement(one, two), *ends),
    )


def _describe_failures(*groups: GroupScores) -> str:
    """Return a sentence about runs that failed before the step, or an empty text."""
    failed = [f"{group.failed} of {group.name}" for group in groups if group.failed]
    if not failed:
        return ""
    return f" Failed runs are left out: {' and '.join(failed)}."


def _estimate(value: SupportsFloat, low: SupportsFloat | None, high: SupportsFloat | None) -> Estimate:
    low, high = (None if end is None else float(end) for end in (low, high))
    return Estimate(value=float(value), low=low, high=high)


def format_difference(number: float) -> str:
    """Format a difference of returns with three digits: 0.681, −12.3, 1,234."""
    text = f"{number:,.0f}" if _round_to_three_digits(number) >= 1_000 else f"{number:.3g}"
    return text.replace("-", "−")


def format_count(count: int) -> str:
    """Format a number of steps with three digits: 950, 99.9 k, 1.25 M."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if _round_to_three_digits(count) >= size:
            return f"{count / size:.3g}{letter}"
    return str(count)


def _round_to_three_digits(number: float) -> float:
    return float(f"{abs(number):.3g}")


def _empty(message: str) -> Verdict:
    return Verdict(at=None, standings=[], pairs=[], quantity="", message=message)

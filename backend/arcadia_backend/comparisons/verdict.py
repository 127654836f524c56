"""The verdict on groups of runs: their ranking, and whether the best is significantly better than each other group.

`give_verdict` decides for all pages, studies, reports and clients. It says nothing while runs train: a verdict that is
computed again as curves grow is false far too often.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import SupportsFloat

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke
from arcadia_backend.comparisons.groups import group_runs, strokes_by_run
from arcadia_backend.comparisons.schemas import Estimate, GroupStanding, PairVerdict, Verdict
from arcadia_backend.comparisons.scores import (
    STEP_TOLERANCE,
    GroupScores,
    ScoredGroups,
    load_group_scores,
    planned_step,
)
from arcadia_backend.database.tables import Run, RunChange, Study, StudyRun
from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.means import (
    MIN_RUNS,
    PAIR_THRESHOLD,
    Bounds,
    Floats,
    MeanDifference,
    best_against_others,
    e_values,
    t_interval,
    why_no_interval,
)
from arcadia_workers.contract.inference.samples import MIN_IMPROVEMENT_RUNS, interval, probability_of_improvement

# The ends of its interval vary by about 0.6 % of the width between seeds.
IMPROVEMENT_DRAWS = 10_000


def judge(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> Verdict:
    """Return the verdict on runs of one environment."""
    if len({run.env for run in runs}) > 1:
        return _empty("Returns in different environments cannot be compared.")
    if len(group_runs(runs, by)) == 1:
        reason = "agree in the fields that they are grouped by" if by else "differ only in their seed"
        return _empty(f"There is nothing to compare: these runs {reason}.")
    scored = load_group_scores(session, runs, at, by)
    if not scored.groups:
        return _empty("At least one group has no run with a finished episode yet.")
    return give_verdict(scored, partial(describe_looks, session, scored))


def give_verdict(scored: ScoredGroups, describe: Callable[[GroupScores, GroupScores], str]) -> Verdict:
    """Return the ranking of groups, and compare the best with each other one if all runs have reached their end.

    `describe` returns the warning about a significant difference.
    """
    strokes = strokes_by_run([group.runs for group in scored.groups])
    ranked = sorted(scored.groups, key=lambda each: -each.scores.mean() if len(each.scores) else math.inf)
    bounds = score_bounds(ranked[0].runs[0].env)
    waiting = _describe_waiting(scored) or _describe_few_seeds(ranked)
    return Verdict(
        at=scored.step,
        standings=[_to_standing(each, strokes[each.runs[0].id], bounds) for each in ranked],
        pairs=[] if waiting else _compare(ranked, scored.step, bounds, describe),
        quantity=_quantity(ranked[0], scored.step),
        message=waiting,
    )


def _describe_waiting(scored: ScoredGroups) -> str:
    """Return why there is no verdict yet, and when it follows. Empty if all runs have reached their end."""
    unfinished = scored.unfinished
    if not unfinished:
        return ""
    total = sum(len(group.runs) for group in scored.groups)
    states = ", ".join(f"{count} {state}" for state, count in Counter(run.state for run in unfinished).items())
    slowest = format_count(int(min(scored.reached.get(run.id, 0.0) for run in unfinished)))
    end = "their end" if scored.planned is None else f"{format_count(scored.planned)} steps"
    return (
        f"No verdict yet: {len(unfinished)} of {total} runs have not reached {end} ({states}). The slowest is at "
        f"{slowest} steps. The verdict follows when all have reached {end} or ended, because one that is read off "
        "growing curves is often false."
    )


def _describe_few_seeds(groups: Sequence[GroupScores]) -> str:
    """Return one sentence for many groups of which none has enough seeds. Two groups are described as a pair."""
    if len(groups) <= 2 or not all(group.seeds_missing for group in groups):
        return ""
    most = max(len(group.scores) for group in groups)
    return (
        f"No verdict: each group needs {MIN_RUNS} seeds, and none of these {len(groups)} groups has more than {most}."
    )


def _compare(
    ranked: Sequence[GroupScores], step: int, bounds: Bounds, describe: Callable[[GroupScores, GroupScores], str]
) -> list[PairVerdict]:
    """Compare the best group with each other one."""
    best, *others = ranked
    known = [] if best.seeds_missing else [each for each in ranked if not each.seeds_missing]
    differences = best_against_others([each.scores for each in known]) if known else []
    by_group = dict(zip([each.name for each in known[1:]], differences, strict=True))
    return [
        _compare_pair(best, other, index, step, by_group.get(other.name), bounds, describe)
        for index, other in enumerate(others, 1)
    ]


def describe_looks(session: Session, scored: ScoredGroups, best: GroupScores, other: GroupScores) -> str:
    """Return a warning about a significant difference, or an empty text.

    Welch's interval is wrong for 5 % of the comparisons without a difference if it is looked at once. Each further
    look adds to this: at another end of training, or after more seeds.
    """
    sentences = [_describe_end(session, scored), _describe_added_seeds(session, best, other)]
    return " ".join(filter(None, sentences))


def _describe_end(session: Session, scored: ScoredGroups) -> str:
    """Return a warning if the compared step was not fixed by the plans with which the runs began."""
    groups = [group.runs for group in scored.groups]
    runs = [run for group in groups for run in group]
    # The first plans of the runs whose number of steps was changed while they trained.
    query = select(RunChange).where(RunChange.run_id.in_([run.id for run in runs]), RunChange.applied_step > 0)
    plans: dict[int, int] = {}
    for change in session.scalars(query.order_by(RunChange.run_id, RunChange.number)):
        if "total_steps" in change.previous:
            plans.setdefault(change.run_id, int(change.previous["total_steps"]))
    first = planned_step(groups, plans)
    step = scored.step
    if first is None or abs(step - first) <= STEP_TOLERANCE * first:
        return ""
    if not scored.is_chosen and scored.planned == first and not any(run.state == "stopped" for run in runs):
        return ""  # Runs that failed, or that ended early without anybody's choice.
    return (
        f"These runs were first planned to be compared at {format_count(first)} steps, not at {format_count(step)}. "
        "Each end that is looked at raises the 5 % chance of a false verdict."
    )


def _describe_added_seeds(session: Session, best: GroupScores, other: GroupScores) -> str:
    """Return a warning if seeds were added after a verdict, and a test that allows for this does not also decide."""
    added = _count_added(session, best.runs, other.runs)
    evidence = float(e_values(best.scores, other.scores))
    if not added or evidence >= PAIR_THRESHOLD:
        return ""
    subject = "1 of these runs was" if added == 1 else f"{added} of these runs were"
    return (
        f"{subject} launched after a first verdict was possible. Repeated looks raise the 5 % chance of a false "
        f"verdict, and a test that allows for them does not confirm it (e-value {evidence:.3g} of {PAIR_THRESHOLD:g})."
    )


def _count_added(session: Session, *groups: Sequence[Run]) -> int:
    """Return how many runs were created after a verdict was possible, without those that a study planned before."""
    ends = [_first_end(group) for group in groups]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return 0
    later = [run.id for group in groups for run in group if run.created_at > max(known)]
    # The seeds in the specification of a study were planned at its start.
    query = select(StudyRun.run_id, StudyRun.seed, Study.specification).join(Study, Study.id == StudyRun.study_id)
    rows = session.execute(query.where(StudyRun.run_id.in_(later)))
    return len({*later} - {run_id for run_id, seed, specification in rows if seed in specification["seeds"]})


def _first_end(group: Sequence[Run]) -> datetime | None:
    """Return when the group first had enough finished runs for a verdict."""
    ends = sorted(run.finished_at for run in group if run.state == "finished" and run.finished_at is not None)
    return ends[MIN_RUNS - 1] if len(ends) >= MIN_RUNS else None


def _quantity(group: GroupScores, step: int) -> str:
    if group.final:
        return "Mean return of the last 100 episodes of each finished run."
    return f"Mean return over the last tenth of the first {format_count(step)} steps."


def _to_standing(group: GroupScores, stroke: Stroke, bounds: Bounds) -> GroupStanding:
    scores = group.scores
    low, high = t_interval(scores.tolist(), bounds) or (None, None)
    return GroupStanding(
        name=group.name,
        run_ids=[run.id for run in group.runs],
        n=len(scores),
        failed=group.failed,
        stopped=group.stopped,
        scores=scores.tolist(),
        mean=_estimate(scores.mean(), low, high) if len(scores) else None,
        no_interval=why_no_interval(scores.tolist(), bounds) if len(scores) else "",
        seeds_missing=group.seeds_missing,
        color=stroke.color,
        dash=stroke.dash,
    )


def _compare_pair(
    best: GroupScores,
    other: GroupScores,
    index: int,
    step: int,
    difference: MeanDifference | None,
    bounds: Bounds,
    describe: Callable[[GroupScores, GroupScores], str],
) -> PairVerdict:
    at, n = f"at {format_count(step)} steps", f"n = {len(best.scores)} and {len(other.scores)}"
    left_out = _describe_left_out(best, other)
    if difference is None:
        is_few = best.seeds_missing or other.seeds_missing
        why = f"each needs {MIN_RUNS} seeds" if is_few else "the runs of each are equal, so their spread is unknown"
        text = f"No verdict on {best.name} and {other.name} {at}: {n}, and {why}.{left_out}"
        return PairVerdict(
            best=0, other=index, text=text, warning="", significant=False, difference=None, probability=None
        )
    significant = difference.low > 0
    names = (
        f"{'Among finished runs, ' if best.failed else ''}{best.name} beats {other.name}"
        if significant
        else f"No difference between {best.name} and {other.name} is shown"
    )
    largest = bounds.high - bounds.low
    ends = Bounds(-largest, largest).clip(difference.low, difference.high)
    mean, low, high = (format_difference(number) for number in (difference.mean, *ends))
    return PairVerdict(
        best=0,
        other=index,
        text=f"{names} {at}: +{mean}, 95 % interval [{low}, {high}], {n}.{left_out}",
        warning=describe(best, other) if significant else "",
        significant=significant,
        difference=_estimate(difference.mean, *ends),
        probability=_probability(best.scores[:, np.newaxis], other.scores[:, np.newaxis]),
    )


def _probability(one: Floats, other: Floats) -> Estimate:
    """Return the probability of improvement. With few runs, a bootstrap of ranks covers far less than 95 %."""
    value = probability_of_improvement(one, other)
    if min(len(one), len(other)) < MIN_IMPROVEMENT_RUNS:
        return _estimate(value, None, None)
    ends = interval(probability_of_improvement, one, other, draws=IMPROVEMENT_DRAWS)
    return _estimate(value, *ends) if ends.low < ends.high else _estimate(value, None, None)


def _describe_left_out(*groups: GroupScores) -> str:
    """Return sentences about runs that failed or were stopped before the step, or an empty text."""
    failed = [f"{group.failed} of {group.name}" for group in groups if group.failed]
    stopped = [f"{group.stopped} of {group.name}" for group in groups if group.stopped]
    return "".join(
        f" {how} runs are left out: {' and '.join(named)}."
        for how, named in (("Failed", failed), ("Stopped", stopped))
        if named
    )


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

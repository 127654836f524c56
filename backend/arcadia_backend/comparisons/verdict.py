"""The verdict on groups of runs: their ranking, and whether the best is significantly better than each other group."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, SupportsFloat

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke
from arcadia_backend.comparisons.groups import group_names, group_runs, strokes_by_run
from arcadia_backend.comparisons.schemas import Estimate, GroupStanding, PairVerdict, Verdict
from arcadia_backend.database.tables import Run, Study, StudyRun
from arcadia_backend.metrics.points import MetricSeries, RunView, load_run_views
from arcadia_backend.metrics.queries import Window, read_curve, read_extent
from arcadia_backend.metrics.reading import find_shared_series, visible_points
from arcadia_workers.contract.inference.means import (
    MIN_RUNS,
    PAIR_THRESHOLD,
    Floats,
    MeanDifference,
    best_against_others,
    e_values,
    t_interval,
)
from arcadia_workers.contract.inference.samples import MIN_IMPROVEMENT_RUNS, interval, probability_of_improvement
from arcadia_workers.contract.metrics import EPISODE_RETURN

# A run's score at a step is its mean return over this last share of the steps before it.
SCORE_WINDOW = 0.1
# A run that ended within this share of the step counts as having reached it.
STEP_TOLERANCE = 0.01
RECENT_EPISODES = 100


@dataclass(frozen=True)
class GroupScores:
    """A group of runs, and the scores of those that have reached the step."""

    name: str
    runs: Sequence[Run]
    scores: Floats
    # True if each score is that of a finished run: the mean of its last 100 episodes, as in studies.
    final: bool = False

    @property
    def failed(self) -> int:
        """Return the number of failed runs without a score. Leaving them out may flatter the group."""
        return min(sum(run.state == "failed" for run in self.runs), len(self.runs) - len(self.scores))

    @property
    def seeds_missing(self) -> int:
        """Return the number of additional seeds that a verdict requires."""
        return max(0, MIN_RUNS - len(self.scores))


def load_group_scores(
    session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()
) -> tuple[int, list[GroupScores]]:
    """Return the step and the scores of each group. By default, use the last step that all groups have reached.

    If some group has not reached any step, return 0 and no groups.
    """
    groups = group_runs(runs, by)
    all_series = find_shared_series(session, [run.id for run in runs], EPISODE_RETURN)
    views = load_run_views(session, list(all_series))
    reached = {
        run_id: read_extent(session, series, views[run_id], "step").high for run_id, series in all_series.items()
    }
    step = at or common_step([[reached.get(run.id, 0.0) for run in _without_failed(group)] for group in groups])
    if step < 1:
        return 0, []
    named = [*zip(group_names(groups, by), groups, strict=True)]
    if at is None and _all_finished_at(step, [run for run in _without_failed(runs) if run.id in all_series], reached):
        return step, [GroupScores(name, group, _final_scores(group), final=True) for name, group in named]
    return step, [
        GroupScores(
            name,
            group,
            _scores_at(session, [all_series[run.id] for run in group if run.id in all_series], views, reached, step),
        )
        for name, group in named
    ]


def _without_failed(runs: Sequence[Run]) -> Sequence[Run]:
    """Return the runs that have not failed, or all if each has. A failure must not move the step before itself."""
    return [run for run in runs if run.state != "failed"] or runs


def _all_finished_at(step: int, runs: Sequence[Run], reached: Mapping[int, float]) -> bool:
    """Return True if all these runs have finished at about this step."""
    near = all(abs(reached[run.id] - step) <= STEP_TOLERANCE * step for run in runs)
    return near and all(run.state == "finished" and run.last_return is not None for run in runs)


def _final_scores(runs: Sequence[Run]) -> Floats:
    scores = [run.last_return for run in runs if run.state == "finished" and run.last_return is not None]
    return np.array([score for score in scores if math.isfinite(score)])


class EpisodeReturns(NamedTuple):
    """The episodes of a run: the step at which each ended, and its return."""

    steps: Floats
    returns: Floats

    def means(self, steps: Floats) -> Floats:
        """Return the mean of the last 100 episodes at each step. The first step must have an episode before it."""
        ends = np.searchsorted(self.steps, steps, side="right")
        means = [self.returns[max(0, end - RECENT_EPISODES) : end].mean() for end in ends.tolist()]
        return np.array(means)


def load_episode_returns(session: Session, runs: Sequence[Run]) -> dict[int, EpisodeReturns]:
    """Return the episodes of each run that has any. Episodes with a non-finite return do not count."""
    ids = [run.id for run in runs]
    query = select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id.in_(ids))
    all_series = {series.run_id: series for series in session.scalars(query)}
    views = load_run_views(session, list(all_series))
    returns = {}
    for run_id, series in all_series.items():
        episodes, _seconds = visible_points(session, series, views[run_id])
        episodes = episodes[np.isfinite(episodes["value"])]
        if len(episodes):
            returns[run_id] = EpisodeReturns(episodes["step"].astype(float), np.array(episodes["value"]))
    return returns


def common_step(reached: Sequence[Sequence[float]]) -> int:
    """Return the last step that in each group MIN_RUNS runs have reached, or all runs of a smaller group.

    Runs at step 0 have no episode and do not count. Return 0 if a group has no other runs.
    """
    known = [sorted((step for step in steps if step), reverse=True) for steps in reached]
    return int(min(steps[:MIN_RUNS][-1] if steps else 0 for steps in known))


def _scores_at(
    session: Session,
    all_series: Sequence[MetricSeries],
    views: Mapping[int, RunView],
    reached: Mapping[int, float],
    step: int,
) -> Floats:
    """Return the mean return of each run over the last part of its steps before this one."""
    window = Window("step", step * (1 - SCORE_WINDOW), step)
    scores = []
    for series in all_series:
        if reached[series.run_id] < step * (1 - STEP_TOLERANCE):
            continue
        curve = read_curve(session, series, views[series.run_id], window)
        finite = np.isfinite(curve.mean)
        if finite.any():
            scores.append(float(np.average(curve.mean[finite], weights=curve.count[finite])))
    return np.array(scores)


def describe_repeated_looks(session: Session, best: GroupScores, other: GroupScores) -> str:
    """Return a warning about a significant difference, or an empty text.

    Welch's interval is wrong for 5 % of the comparisons without a difference if it is looked at once. Each further
    look after more seeds adds to this, unless a test that allows for repeated looks also decides.
    """
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
    return len({*later} - _planned_at_start(session, later))


def _first_end(group: Sequence[Run]) -> datetime | None:
    """Return when the group first had enough finished runs for a verdict."""
    ends = sorted(run.finished_at for run in group if run.state == "finished" and run.finished_at is not None)
    return ends[MIN_RUNS - 1] if len(ends) >= MIN_RUNS else None


def _planned_at_start(session: Session, run_ids: Sequence[int]) -> set[int]:
    """Return those runs whose seed is in the specification of their study."""
    query = select(StudyRun.run_id, StudyRun.seed, Study.specification).join(Study, Study.id == StudyRun.study_id)
    rows = session.execute(query.where(StudyRun.run_id.in_(run_ids)))
    return {run_id for run_id, seed, specification in rows if seed in specification["seeds"]}


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
        f"{'Among finished runs, ' if best.failed else ''}{best.name} beats {other.name}"
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

"""Scores of groups of runs at a step: the step that all groups reach by their plans, and the runs that still train."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.comparisons.groups import group_names, group_runs
from arcadia_backend.database.tables import Run
from arcadia_backend.metrics.points import MetricSeries, RunView, load_run_views
from arcadia_backend.metrics.queries import VisibleSeries, Window, read_curves, read_extents
from arcadia_backend.metrics.reading import find_shared_series, visible_points
from arcadia_workers.contract.inference.means import MIN_RUNS, Floats
from arcadia_workers.contract.metrics import EPISODE_RETURN
from arcadia_workers.contract.worker_api import ENDED

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
    def stopped(self) -> int:
        """Return the number of stopped runs without a score."""
        without = len(self.runs) - len(self.scores) - self.failed
        return min(sum(run.state == "stopped" for run in self.runs), without)

    @property
    def seeds_missing(self) -> int:
        """Return the number of additional seeds that a verdict requires."""
        return max(0, MIN_RUNS - len(self.scores))


@dataclass(frozen=True)
class ScoredGroups:
    """Groups with their scores at a step."""

    step: int
    groups: Sequence[GroupScores]
    # Last step of each run with a finished episode.
    reached: Mapping[int, float]
    # Step of the verdict, or None if plans do not fix it.
    planned: int | None
    # True if the step was requested instead of planned.
    is_chosen: bool = False

    @property
    def unfinished(self) -> list[Run]:
        """Return the runs that have neither ended nor passed the step of the verdict."""
        end = self.planned or math.inf
        runs = [run for group in self.groups for run in group.runs]
        return [run for run in runs if run.state not in ENDED and self.reached.get(run.id, 0.0) < end]


def load_group_scores(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> ScoredGroups:
    """Return the scores of each group at a step. By default, at the last step of all groups.

    There are no groups if some group has not reached any step.
    """
    groups = group_runs(runs, by)
    all_series = find_shared_series(session, [run.id for run in runs], EPISODE_RETURN)
    views = load_run_views(session, list(all_series))
    extents = read_extents(
        session, [VisibleSeries(series, views[run_id]) for run_id, series in all_series.items()], "step"
    )
    reached = {run_id: extent.high for run_id, extent in zip(all_series, extents, strict=True)}
    planned = at or planned_step(groups)
    step = at or min(
        common_step([[reached.get(run.id, 0.0) for run in _without_failed(group)] for group in groups]),
        planned or math.inf,
    )
    if step < 1:
        return ScoredGroups(0, [], reached, planned)
    named = [*zip(group_names(groups, by), groups, strict=True)]
    if at is None and _all_finished_at(step, [run for run in _without_failed(runs) if run.id in all_series], reached):
        scored = [GroupScores(name, group, _final_scores(group), final=True) for name, group in named]
    else:
        scored = []
        for name, group in named:
            known = [all_series[run.id] for run in group if run.id in all_series]
            scored.append(GroupScores(name, group, _scores_at(session, known, views, reached, step)))
    return ScoredGroups(int(step), scored, reached, planned, is_chosen=at is not None)


def planned_step(groups: Sequence[Sequence[Run]], plans: Mapping[int, int] = {}) -> int | None:
    """Return the step that enough runs of each group reach by their plans. None if scripts do not say how many.

    `plans` has the steps of runs for which they are not the current ones.
    """
    return common_step([[plans.get(run.id, run.total_steps or 0) for run in group] for group in groups]) or None


def _without_failed(runs: Sequence[Run]) -> Sequence[Run]:
    """Return the runs that have not failed, or all if each has. A failure must not move the step before itself."""
    return [run for run in runs if run.state != "failed"] or runs


def _all_finished_at(step: float, runs: Sequence[Run], reached: Mapping[int, float]) -> bool:
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
    step: float,
) -> Floats:
    """Return the mean return of each run over the last part of its steps before this one."""
    window = Window("step", step * (1 - SCORE_WINDOW), step)
    far = [series for series in all_series if reached[series.run_id] >= step * (1 - STEP_TOLERANCE)]
    scores = []
    for curve in read_curves(session, [VisibleSeries(series, views[series.run_id]) for series in far], window):
        finite = np.isfinite(curve.mean)
        if finite.any():
            scores.append(float(np.average(curve.mean[finite], weights=curve.count[finite])))
    return np.array(scores)

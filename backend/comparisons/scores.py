"""Scores of groups of runs at a step of training."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.groups import group_runs
from backend.comparisons.labels import group_names
from backend.database.tables import Run
from backend.metrics.curves import Window, read_curve, read_extent
from backend.metrics.models import MetricSeries
from backend.metrics.reading import visible_points
from backend.metrics.series import find_shared_series
from backend.metrics.visibility import RunView, load_run_views
from workers.contract.inference.means import MIN_RUNS, Floats
from workers.contract.metrics import EPISODE_RETURN

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
    step = at or common_step([[reached.get(run.id, 0.0) for run in group] for group in groups])
    if step < 1:
        return 0, []
    named = [*zip(group_names(groups, by), groups, strict=True)]
    if at is None and _all_finished_at(step, [run for run in runs if run.id in all_series], reached):
        return step, [GroupScores(name, group, _final_scores(group), final=True) for name, group in named]
    return step, [
        GroupScores(
            name,
            group,
            _scores_at(session, [all_series[run.id] for run in group if run.id in all_series], views, reached, step),
        )
        for name, group in named
    ]


def _all_finished_at(step: int, runs: Sequence[Run], reached: Mapping[int, float]) -> bool:
    """Return True if all runs have finished at about this step."""
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
    found = {}
    for run_id, series in all_series.items():
        episodes, _seconds = visible_points(session, series, views[run_id])
        episodes = episodes[np.isfinite(episodes["value"])]
        if len(episodes):
            found[run_id] = EpisodeReturns(episodes["step"].astype(float), np.array(episodes["value"]))
    return found


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

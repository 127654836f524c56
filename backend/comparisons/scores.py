"""What runs that differ in their seed alone have come to at a step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.groups import groups_of
from backend.comparisons.statistics import Floats
from backend.database.tables import Run
from backend.metrics.curves import Window, read_curve, read_extent
from backend.metrics.models import MetricSeries
from backend.metrics.reading import visible_points
from backend.metrics.visibility import RunView, load_run_views
from backend.runs.labels import group_names
from workers.contract.metrics import EPISODE_RETURN

# Fewer seeds tell nothing of how much seeds differ.
FEWEST = 3
# A run's score at a step is its mean return over this last part of its steps until then.
PART = 0.1
# A run that ended so little before the step has reached it.
NEARLY = 0.01
RECENT = 100


@dataclass(frozen=True)
class Scored:
    """A group and the scores of those of its runs that have reached the step."""

    name: str
    runs: Sequence[Run]
    scores: Floats
    # Whether each score is that of the finished run, the mean of its last 100 episodes, as studies show it.
    final: bool = False

    @property
    def missing(self) -> int:
        """How many more seeds a verdict takes."""
        return max(0, FEWEST - len(self.scores))


def scored_groups(
    session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()
) -> tuple[int, list[Scored]]:
    """The step, or the last that enough runs of each group have reached, and the groups; 0 and none before any has."""
    groups = groups_of(runs, by)
    ids = [run.id for run in runs]
    found = select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id.in_(ids))
    every = {series.run_id: series for series in session.scalars(found)}
    views = load_run_views(session, list(every))
    reached = {run_id: read_extent(session, series, views[run_id], "step").high for run_id, series in every.items()}
    step = at or common_step([[reached.get(run.id, 0.0) for run in group] for group in groups])
    if step < 1:
        return 0, []
    named = [*zip(group_names(groups, by), groups, strict=True)]
    if at is None and _all_end_at(step, [run for run in runs if run.id in every], reached):
        return step, [Scored(name, group, _final_scores(group), final=True) for name, group in named]
    return step, [
        Scored(name, group, _scores(session, [every[run.id] for run in group if run.id in every], views, reached, step))
        for name, group in named
    ]


def _all_end_at(step: int, runs: Sequence[Run], reached: Mapping[int, float]) -> bool:
    """Return True if all runs have finished at about this step."""
    near = all(abs(reached[run.id] - step) <= NEARLY * step for run in runs)
    return near and all(run.state == "finished" and run.last_return is not None for run in runs)


def _final_scores(runs: Sequence[Run]) -> Floats:
    scores = [run.last_return for run in runs if run.state == "finished" and run.last_return is not None]
    return np.array([score for score in scores if math.isfinite(score)])


class Trail(NamedTuple):
    """The episodes of a run: at which step each ended, and its return."""

    steps: Floats
    returns: Floats

    def means(self, places: Floats) -> Floats:
        """At each place the mean of the last 100 episodes until then; the first is to have ended by the first."""
        ends = np.searchsorted(self.steps, places, side="right")
        sums = [self.returns[max(0, end - RECENT) : end].mean() for end in ends.tolist()]
        return np.array(sums)


def trails(session: Session, runs: Sequence[Run]) -> dict[int, Trail]:
    """By run that has episodes, these; one whose return is no number does not count."""
    found = select(MetricSeries).where(
        MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id.in_([run.id for run in runs])
    )
    every = {series.run_id: series for series in session.scalars(found)}
    views = load_run_views(session, list(every))
    told = {}
    for run_id, series in every.items():
        episodes, _seconds = visible_points(session, series, views[run_id])
        episodes = episodes[np.isfinite(episodes["value"])]
        if len(episodes):
            told[run_id] = Trail(episodes["step"].astype(float), np.array(episodes["value"]))
    return told


def common_step(reached: Sequence[Sequence[float]]) -> int:
    """The last step that in each group as many runs have reached as a verdict takes, or all of fewer.

    Runs without an episode, which are at step 0, are left out; 0 where a group has no other.
    """
    known = [sorted((step for step in steps if step), reverse=True) for steps in reached]
    return int(min(steps[:FEWEST][-1] if steps else 0 for steps in known))


def _scores(
    session: Session,
    every: Sequence[MetricSeries],
    views: Mapping[int, RunView],
    reached: Mapping[int, float],
    step: int,
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

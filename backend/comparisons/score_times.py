"""When a run's mean over 100 episodes first came to a score: after how many steps, frames and seconds of training.

Such times are what table 2 of the A3C paper compares numbers of threads by (Mnih et al. 2016, arXiv:1602.01783).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.statistics import Floats
from backend.database.tables import Run
from backend.metrics.models import MetricSeries
from backend.metrics.points import NO_POINTS, Array
from backend.metrics.reading import visible_points
from backend.metrics.visibility import load_run_views
from workers.contract.metrics import EPISODE_RETURN

EPISODES = 100
_DOWN = Context(prec=3, rounding=ROUND_FLOOR)


class Reached(NamedTuple):
    """Where in its training a run, or the middle one of several, came to a score."""

    steps: float
    frames: float
    seconds: float


NEVER = Reached(np.inf, np.inf, np.inf)


@dataclass(frozen=True)
class Climb:
    """A run's records: each mean over 100 episodes that was higher than all before it, and where that was."""

    heights: Floats
    steps: Floats
    frames: Floats
    seconds: Floats

    @property
    def best(self) -> float:
        """The highest; minus infinity before there are 100 episodes."""
        return float(self.heights[-1]) if len(self.heights) else -np.inf

    def reached(self, score: float) -> Reached:
        """Where the run first came to the score; `NEVER` if it has not."""
        if not self.best >= score:
            return NEVER
        place = int(np.searchsorted(self.heights, score))
        return Reached(*(float(each[place]) for each in (self.steps, self.frames, self.seconds)))


def climbs(session: Session, runs: Sequence[Run]) -> dict[int, Climb]:
    """By run, its records; none for a run without episodes."""
    ids = [run.id for run in runs]
    found = select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id.in_(ids))
    every = {series.run_id: series for series in session.scalars(found)}
    views = load_run_views(session, list(every))
    nothing = climb(NO_POINTS, np.empty(0))
    return dict.fromkeys(ids, nothing) | {
        run_id: climb(*visible_points(session, series, views[run_id])) for run_id, series in every.items()
    }


def climb(episodes: Array, seconds: Floats) -> Climb:
    """The records of these episodes, in their order; one whose return is no number does not count."""
    finite = np.isfinite(episodes["value"])
    episodes, seconds = episodes[finite], seconds[finite]
    means = np.empty(0)
    if len(episodes) >= EPISODES:
        with np.errstate(over="ignore"):
            means = sliding_window_view(episodes["value"], EPISODES).mean(axis=-1)
    before = np.maximum.accumulate(np.append(-np.inf, means[:-1]))[: len(means)]
    records = np.flatnonzero((means > before) & np.isfinite(means))
    ends = records + EPISODES - 1
    return Climb(
        means[records], episodes["step"][ends].astype(float), episodes["frames"][ends].astype(float), seconds[ends]
    )


def middle(runs: Sequence[Climb], score: float) -> Reached | None:
    """The median of where runs came to the score, those that did not being last; none unless more than half did."""
    places = np.array([run.reached(score) for run in runs])
    median = Reached(*np.median(places, axis=0).tolist()) if len(places) else NEVER
    return None if median == NEVER else median


def common_score(groups: Sequence[Sequence[Climb]]) -> float | None:
    """The best score that more than half of each group's runs came to, rounded down to three figures."""
    best = min(sorted((run.best for run in runs), reverse=True)[len(runs) // 2] for runs in groups)
    return float(_DOWN.create_decimal_from_float(best)) if np.isfinite(best) else None

"""Training until a run's mean over 100 episodes first reached a score, in steps, frames and seconds.

Table 2 of the A3C paper compares numbers of threads by such times (Mnih et al. 2016, arXiv:1602.01783).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.metrics.models import MetricSeries
from backend.metrics.points import NO_POINTS, Array
from backend.metrics.reading import visible_points
from backend.metrics.visibility import load_run_views
from workers.contract.inference.means import Floats
from workers.contract.metrics import EPISODE_RETURN

EPISODES = 100
_ROUND_DOWN = Context(prec=3, rounding=ROUND_FLOOR)


class Reached(NamedTuple):
    """Training until a score was first reached, by one run or by the median of several."""

    steps: float
    frames: float
    seconds: float


NOT_REACHED = Reached(np.inf, np.inf, np.inf)


@dataclass(frozen=True)
class ScoreRecords:
    """The records of a run: each 100-episode mean that exceeded all earlier ones, and the training until then."""

    scores: Floats
    steps: Floats
    frames: Floats
    seconds: Floats

    @property
    def best(self) -> float:
        """Return the best score, or minus infinity before 100 episodes."""
        return float(self.scores[-1]) if len(self.scores) else -np.inf

    def reached(self, score: float) -> Reached:
        """Return the training until the run first reached the score, or `NOT_REACHED`."""
        if not self.best >= score:
            return NOT_REACHED
        index = int(np.searchsorted(self.scores, score))
        return Reached(*(float(each[index]) for each in (self.steps, self.frames, self.seconds)))


def load_score_records(session: Session, runs: Sequence[Run]) -> dict[int, ScoreRecords]:
    """Return the score records of each run. Runs without episodes have empty records."""
    ids = [run.id for run in runs]
    query = select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id.in_(ids))
    all_series = {series.run_id: series for series in session.scalars(query)}
    views = load_run_views(session, list(all_series))
    empty = score_records(NO_POINTS, np.empty(0))
    return dict.fromkeys(ids, empty) | {
        run_id: score_records(*visible_points(session, series, views[run_id])) for run_id, series in all_series.items()
    }


def score_records(episodes: Array, seconds: Floats) -> ScoreRecords:
    """Return the records of these episodes. Episodes with a non-finite return do not count."""
    finite = np.isfinite(episodes["value"])
    episodes, seconds = episodes[finite], seconds[finite]
    means = np.empty(0)
    if len(episodes) >= EPISODES:
        with np.errstate(over="ignore"):
            means = sliding_window_view(episodes["value"], EPISODES).mean(axis=-1)
    best_before = np.maximum.accumulate(np.append(-np.inf, means[:-1]))[: len(means)]
    records = np.flatnonzero((means > best_before) & np.isfinite(means))
    ends = records + EPISODES - 1
    return ScoreRecords(
        means[records], episodes["step"][ends].astype(float), episodes["frames"][ends].astype(float), seconds[ends]
    )


def median_reached(runs: Sequence[ScoreRecords], score: float) -> Reached | None:
    """Return the median training until the score, or None unless more than half of the runs reached it.

    Runs that did not reach it count as slowest.
    """
    reached = np.array([run.reached(score) for run in runs])
    median = Reached(*np.median(reached, axis=0).tolist()) if len(reached) else NOT_REACHED
    return None if median == NOT_REACHED else median


def common_score(groups: Sequence[Sequence[ScoreRecords]]) -> float | None:
    """Return the best score that more than half of each group's runs reached, rounded down to three digits."""
    best = min(sorted((run.best for run in runs), reverse=True)[len(runs) // 2] for runs in groups)
    return float(_ROUND_DOWN.create_decimal_from_float(best)) if np.isfinite(best) else None

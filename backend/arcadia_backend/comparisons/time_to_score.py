"""Training until groups of runs reach a score, and the speed-up over a baseline group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke
from arcadia_backend.comparisons.groups import group_names, strokes_by_run
from arcadia_backend.comparisons.schemas import GroupTime, RunTime, Thresholds, TimeToScore
from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics.points import NO_POINTS, Array, MetricSeries, load_run_views
from arcadia_backend.metrics.reading import visible_points
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.metrics import EPISODE_RETURN

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


FORKED = "it has forks, whose steps include those of their parents, but whose training time does not"


def compare_times(
    session: Session, groups: Sequence[Sequence[Run]], score: float | None, to: int, by: Sequence[str] = ()
) -> Thresholds:
    """Compare how soon each group reached the score with the group of run `to`."""
    base = next((index for index, group in enumerate(groups) if to in [run.id for run in group]), None)
    if base is None:
        raise Invalid(FieldError(field="to", message=f"use one of the compared runs; {to} is not one of them"))
    runs = [run for group in groups for run in group]
    if len({run.env for run in runs}) > 1:
        return _empty(base, "Returns in different environments cannot be compared.")
    records = load_score_records(session, runs)
    common = common_score([[records[run.id] for run in group] for group in groups])
    target = common if score is None else score
    if target is None:
        return _empty(base, "In at least one group, not enough runs have finished 100 episodes yet.")
    names, strokes = group_names(groups, by), strokes_by_run(groups)
    times = [
        _time_group(name, group, records, target, strokes[group[0].id])
        for name, group in zip(names, groups, strict=True)
    ]
    return Thresholds(
        score=target,
        common=common,
        compared_with=base,
        groups=[_with_ratios(each, times[base]) for each in times],
        message="",
    )


def _time_group(
    name: str, runs: Sequence[Run], records: Mapping[int, ScoreRecords], score: float, stroke: Stroke
) -> GroupTime:
    reached = {run.id: records[run.id].reached(score) for run in runs}
    forks = {run.id for run in runs if run.parent_step is not None}
    return GroupTime(
        name=name,
        run_ids=list(reached),
        n=len(reached),
        reached=sum(each != NOT_REACHED for each in reached.values()),
        median=_to_schema(median_reached([records[run.id] for run in runs], score), timed=not forks),
        untimed_reason=FORKED if forks else None,
        speed_up=None,
        data_efficiency=None,
        color=stroke.color,
        dash=stroke.dash,
        runs=[
            RunTime(run_id=run_id, reached=_to_schema(each, timed=run_id not in forks))
            for run_id, each in reached.items()
        ],
    )


def _with_ratios(group: GroupTime, base: GroupTime) -> GroupTime:
    own, other = group.median, base.median
    if own is None or other is None:
        return group
    return group.model_copy(
        update={
            "speed_up": other.seconds / own.seconds if own.seconds and other.seconds is not None else None,
            "data_efficiency": other.steps / own.steps if own.steps else None,
        }
    )


def _to_schema(reached: Reached | None, *, timed: bool) -> TimeToScore | None:
    if reached is None or reached == NOT_REACHED:
        return None
    return TimeToScore(steps=reached.steps, frames=reached.frames, seconds=reached.seconds if timed else None)


def _empty(base: int, message: str) -> Thresholds:
    return Thresholds(score=None, common=None, compared_with=base, groups=[], message=message)

"""Training until groups of runs reach a score, and the speed-up over a baseline group."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from backend.colors import Stroke
from backend.comparisons.groups import strokes_by_run
from backend.comparisons.labels import group_names
from backend.comparisons.schemas import GroupTime, RunTime, Thresholds, TimeToScore
from backend.comparisons.score_records import (
    NOT_REACHED,
    Reached,
    ScoreRecords,
    common_score,
    load_score_records,
    median_reached,
)
from backend.database.tables import Run
from backend.errors import FieldError, Invalid

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

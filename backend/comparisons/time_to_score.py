"""How soon settings come to a score: steps, frames and time of each group of runs, and the ratios to one of them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from backend.colors import Dash, Stroke
from backend.comparisons.groups import fields_named, groups_of, strokes_of
from backend.comparisons.score_times import NEVER, Climb, Reached, climbs, common_score, middle
from backend.comparisons.selection import GroupBy, MissingRuns, RunIds, missing_from, selected
from backend.database.engine import Db
from backend.database.tables import Run
from backend.errors import FieldError, Invalid
from backend.runs.labels import group_names
from workers.contract.values import Id

router = APIRouter(tags=["compare"])

FORKED = "it has forks, whose steps include those of the runs that they were forked from, and whose time does not"


class Place(BaseModel):
    """A place in training."""

    steps: float
    frames: float
    seconds: float | None = Field(description="Null for a fork: its steps include its parent's, its time does not.")


class RunTime(BaseModel):
    """Where one run came to the score."""

    run_id: int
    reached: Place | None = Field(description="Null where the run has not come so far.")


class GroupTime(BaseModel):
    """How soon a group of runs came to the score."""

    name: str
    run_ids: list[int]
    n: int
    reached: int = Field(description="How many of the runs came to the score.")
    median: Place | None = Field(
        description="Of all the runs, those that did not come to the score being last; null unless more than half did."
    )
    untimed_because: str | None = Field(description="Why there is no time, and so no speed-up of or beside the group.")
    speed_up: float | None = Field(description="How many times less training time than the group compared with.")
    data_efficiency: float | None = Field(description="How many times fewer steps than the group compared with.")
    color: str = Field(description="The group's color in figures of the same runs.")
    dash: Dash
    runs: list[RunTime]


class Thresholds(BaseModel):
    """How soon groups of runs came to a score; a run's score is its mean over 100 episodes on end."""

    score: float | None = Field(description="Null where none was asked for and the groups share none.")
    common: float | None = Field(
        description="The best that more than half of each group's runs came to, rounded down to three figures."
    )
    compared_with: int = Field(description="The place in `groups` of the one that the ratios are to.")
    groups: list[GroupTime]
    words: str = Field(description="Why there is nothing to compare; empty otherwise.")
    missing: MissingRuns = []


@router.get("/compare/thresholds")
def compare_times(
    db: Db,
    runs: RunIds,
    score: Annotated[
        float | None,
        Query(allow_inf_nan=False, description="The mean over 100 episodes; without it the best that all came to."),
    ] = None,
    to: Annotated[Id | None, Query(description="A run of the group that others are compared with; the first.")] = None,
    group_by: GroupBy = "",
) -> Thresholds:
    """Steps, frames and training time until settings came to a score, and speed-ups as ratios to one of them."""
    with db.read() as session:
        named = selected(session, runs)
        by = fields_named(group_by, named)
        found = thresholds(session, groups_of(named, by), score, named[0].id if to is None else to, by)
    return found.model_copy(update={"missing": missing_from(named, runs)})


def thresholds(
    session: Session, groups: Sequence[Sequence[Run]], score: float | None, to: int, by: Sequence[str] = ()
) -> Thresholds:
    """How soon each group came to the score, beside the group of run `to`."""
    base = next((place for place, group in enumerate(groups) if to in [run.id for run in group]), None)
    if base is None:
        raise Invalid(FieldError(field="to", message=f"name one of the runs compared; {to} is none"))
    members = [run for group in groups for run in group]
    if len({run.env for run in members}) > 1:
        return _nothing(base, "Returns of different games are not compared.")
    climbed = climbs(session, members)
    common = common_score([[climbed[run.id] for run in group] for group in groups])
    wanted = common if score is None else score
    if wanted is None:
        return _nothing(base, "Not in every group have more than half of the runs finished 100 episodes yet.")
    names = group_names(groups, by)
    drawn = strokes_of(groups)
    told = [_group(name, group, climbed, wanted, drawn[group[0].id]) for name, group in zip(names, groups, strict=True)]
    return Thresholds(
        score=wanted, common=common, compared_with=base, groups=[_beside(each, told[base]) for each in told], words=""
    )


def _group(name: str, runs: Sequence[Run], climbed: Mapping[int, Climb], score: float, stroke: Stroke) -> GroupTime:
    reached = {run.id: climbed[run.id].reached(score) for run in runs}
    forks = {run.id for run in runs if run.parent_step is not None}
    return GroupTime(
        name=name,
        run_ids=list(reached),
        n=len(reached),
        reached=sum(place != NEVER for place in reached.values()),
        median=_place(middle([climbed[run.id] for run in runs], score), timed=not forks),
        untimed_because=FORKED if forks else None,
        speed_up=None,
        data_efficiency=None,
        color=stroke.color,
        dash=stroke.dash,
        runs=[
            RunTime(run_id=run_id, reached=_place(place, timed=run_id not in forks))
            for run_id, place in reached.items()
        ],
    )


def _beside(group: GroupTime, base: GroupTime) -> GroupTime:
    one, other = group.median, base.median
    if one is None or other is None:
        return group
    return group.model_copy(
        update={
            "speed_up": other.seconds / one.seconds if one.seconds and other.seconds is not None else None,
            "data_efficiency": other.steps / one.steps if one.steps else None,
        }
    )


def _place(reached: Reached | None, *, timed: bool) -> Place | None:
    if reached is None or reached == NEVER:
        return None
    return Place(steps=reached.steps, frames=reached.frames, seconds=reached.seconds if timed else None)


def _nothing(base: int, words: str) -> Thresholds:
    return Thresholds(score=None, common=None, compared_with=base, groups=[], words=words)

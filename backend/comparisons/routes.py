"""/compare: runs side by side, the verdict on groups of runs, and their time to a score."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.comparisons import schemas, side_by_side, time_to_score, verdict
from backend.comparisons.groups import group_runs, parse_group_fields
from backend.comparisons.selection import AtStep, GroupBy, RunIds, load_runs, missing_run_ids
from backend.database.engine import Db
from workers.contract.values import Id

router = APIRouter(tags=["compare"])


@router.get("/compare")
def compare_runs(
    db: Db,
    runs: RunIds,
    group_by: GroupBy = "",
    grouped: Annotated[bool, Query(description="Use one color per group instead of one per run.")] = False,
) -> schemas.Comparison:
    """Return the differences between the runs' configurations, and the results of each run."""
    with db.read() as session:
        found = load_runs(session, runs)
        groups = group_runs(found, parse_group_fields(group_by, found))
        comparison = side_by_side.compare(session, found, groups, color_groups=grouped)
    return comparison.model_copy(update={"missing": missing_run_ids(found, runs)})


@router.get("/compare/verdict")
def judge_runs(db: Db, runs: RunIds, at: AtStep = None, group_by: GroupBy = "") -> schemas.Verdict:
    """Rank groups of runs by mean return at a step, and compare the best with each other group."""
    with db.read() as session:
        found = load_runs(session, runs)
        result = verdict.judge(session, found, at, parse_group_fields(group_by, found))
    return result.model_copy(update={"missing": missing_run_ids(found, runs)})


@router.get("/compare/thresholds")
def compare_times(
    db: Db,
    runs: RunIds,
    score: Annotated[
        float | None,
        Query(
            allow_inf_nan=False,
            description="Mean over 100 episodes to reach. Default: the best that all groups reached.",
        ),
    ] = None,
    to: Annotated[Id | None, Query(description="A run of the baseline group. Default: the first run.")] = None,
    group_by: GroupBy = "",
) -> schemas.Thresholds:
    """Return steps, frames and training time of each group until a score, and the speed-up over a baseline group."""
    with db.read() as session:
        found = load_runs(session, runs)
        by = parse_group_fields(group_by, found)
        result = time_to_score.compare_times(
            session, group_runs(found, by), score, found[0].id if to is None else to, by
        )
    return result.model_copy(update={"missing": missing_run_ids(found, runs)})

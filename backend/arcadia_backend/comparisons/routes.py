"""/compare: runs side by side, the verdict on groups of runs, and their time to a score."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.comparisons import schemas, time_to_score, verdict
from arcadia_backend.comparisons.groups import compare as compare_side_by_side
from arcadia_backend.comparisons.groups import group_runs, parse_group_fields
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_workers.contract.values import MAX_ID, Id

MAX_RUNS = 500
MAX_INTEGER = 2**63 - 1
# Twenty digits are more than any id has.
RANGE = re.compile(r"([0-9]{1,20})(?:-([0-9]{1,20}))?")
_IDS_OF = {"runs": "run", "studies": "study", "reports": "report"}

RunIds = Annotated[
    str,
    Query(
        alias="runs",
        description="Run ids and ranges, separated by commas, such as 1,2,7-12.",
        max_length=10_000,
        # Described only, because the parser has a better message.
        json_schema_extra={"pattern": "^[0-9, -]*$"},
    ),
]

GroupBy = Annotated[
    str,
    Query(
        max_length=1_000,
        description="Configuration fields, separated by commas. Runs that agree in all of them form one group. "
        "By default, runs that differ only in their seed form one.",
    ),
]

AtStep = Annotated[
    int | None,
    Query(ge=1, le=MAX_ID, description="Step to compare at. Default: the last that enough runs of each group reached."),
]


def parse_run_ids(text: str) -> list[int]:
    """Return the unique run ids in a comma-separated list, in order. Raise Invalid if it is malformed."""
    return parse_ids(text, "runs")


def parse_ids(text: str, field: Literal["runs", "studies", "reports"], most: int = MAX_RUNS) -> list[int]:
    """Return the unique ids in a list such as 1,2,7-12, in order. Raise Invalid if it is malformed or too long."""
    ids: dict[int, None] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        first, last = _parse_range(part, field)
        if last - first >= most:
            raise _too_many(field, most, f"more than {most:,}")
        ids |= dict.fromkeys(range(first, last + 1))
    if not ids:
        raise _malformed(field)
    if len(ids) > most:
        raise _too_many(field, most, f"{len(ids):,}")
    return list(ids)


def _parse_range(part: str, field: str) -> tuple[int, int]:
    match = RANGE.fullmatch(part)
    if match is None:
        raise _malformed(field)
    first, last = int(match[1]), int(match[2] or match[1])
    if not first <= last <= MAX_INTEGER:
        raise _malformed(field)
    return first, last


def _malformed(field: str) -> Invalid:
    return Invalid(FieldError(field=field, message=f"list {_IDS_OF[field]} ids, for example {field}=1,2,3 or 7-12"))


def _too_many(field: str, most: int, got: str) -> Invalid:
    return Invalid(FieldError(field=field, message=f"at most {most:,} {field} are allowed, got {got}"))


def load_runs(session: Session, text: str) -> Sequence[Run]:
    """Return the listed runs that exist, in order. Raise NotFound if none exists."""
    ids = parse_run_ids(text)
    runs_by_id = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(ids)))}
    if not runs_by_id:
        raise NotFound(f"There is no run {' and no run '.join(map(str, ids))}.")
    return [runs_by_id[run_id] for run_id in ids if run_id in runs_by_id]


def missing_run_ids(runs: Sequence[Run], text: str) -> list[int]:
    """Return the listed run ids that do not exist."""
    known = {run.id for run in runs}
    return [run_id for run_id in parse_run_ids(text) if run_id not in known]


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
        loaded = load_runs(session, runs)
        groups = group_runs(loaded, parse_group_fields(group_by, loaded))
        comparison = compare_side_by_side(session, loaded, groups, color_groups=grouped)
    return comparison.model_copy(update={"missing": missing_run_ids(loaded, runs)})


@router.get("/compare/verdict")
def judge_runs(db: Db, runs: RunIds, at: AtStep = None, group_by: GroupBy = "") -> schemas.Verdict:
    """Rank groups of runs by mean return at a step, and compare the best with each other group."""
    with db.read() as session:
        loaded = load_runs(session, runs)
        result = verdict.judge(session, loaded, at, parse_group_fields(group_by, loaded))
    return result.model_copy(update={"missing": missing_run_ids(loaded, runs)})


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
        loaded = load_runs(session, runs)
        by = parse_group_fields(group_by, loaded)
        result = time_to_score.compare_times(
            session, group_runs(loaded, by), score, loaded[0].id if to is None else to, by
        )
    return result.model_copy(update={"missing": missing_run_ids(loaded, runs)})

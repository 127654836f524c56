"""Query parameters that select the runs of a comparison or figure, for example runs=1,2,3."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Query
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import FieldError, Invalid, NotFound
from workers.contract.values import MAX_ID

MAX_RUNS = 100
MAX_INTEGER = 2**63 - 1
_IDS_OF = {"runs": "run", "studies": "study", "reports": "report"}

RunIds = Annotated[str, Query(alias="runs", description="Run ids, separated by commas.", max_length=2_000)]

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


def parse_ids(text: str, field: Literal["runs", "studies", "reports"]) -> list[int]:
    """Return the unique ids in a comma-separated list, in order. Raise Invalid if it is malformed."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() and int(part) <= MAX_INTEGER for part in parts):
        raise Invalid(FieldError(field=field, message=f"list {_IDS_OF[field]} ids, for example {field}=1,2,3"))
    ids = list(dict.fromkeys(int(part) for part in parts))
    if len(ids) > MAX_RUNS:
        raise Invalid(FieldError(field=field, message=f"at most {MAX_RUNS} {field} are allowed, got {len(ids)}"))
    return ids


def load_runs(session: Session, text: str) -> Sequence[Run]:
    """Return the listed runs that exist, in order. Raise NotFound if none exists."""
    ids = parse_run_ids(text)
    found = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(ids)))}
    if not found:
        raise NotFound(f"There is no run {' and no run '.join(map(str, ids))}.")
    return [found[run_id] for run_id in ids if run_id in found]


def missing_run_ids(found: Sequence[Run], text: str) -> list[int]:
    """Return the listed run ids that do not exist."""
    known = {run.id for run in found}
    return [run_id for run_id in parse_run_ids(text) if run_id not in known]

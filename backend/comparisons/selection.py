"""The runs that an address names, as runs=1,2,3."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import FieldError, Invalid, NotFound
from workers.contract.values import MAX_ID

MAX_RUNS = 100
LARGEST_ID = 2**63 - 1

RunIds = Annotated[str, Query(alias="runs", description="Numbers of runs, separated by commas.", max_length=2_000)]

MissingRuns = Annotated[list[int], Field(description="Numbers of named runs that do not exist; the answer is without.")]

GroupBy = Annotated[
    str,
    Query(
        max_length=1_000,
        description="Fields of configurations, separated by commas: runs that agree in all of them are one group. "
        "Without it, runs that differ in their seed alone are one.",
    ),
]

AtStep = Annotated[
    int | None,
    Query(ge=1, le=MAX_ID, description="At which step; without it the last that enough runs of each group reached."),
]


def numbers_in(written: str) -> list[int]:
    """The numbers of the named runs, each once, in the order named."""
    parts = [part.strip() for part in written.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() and int(part) <= LARGEST_ID for part in parts):
        raise Invalid(FieldError(field="runs", message="name runs by their numbers, as runs=1,2,3"))
    ids = list(dict.fromkeys(int(part) for part in parts))
    if len(ids) > MAX_RUNS:
        raise Invalid(FieldError(field="runs", message=f"at most {MAX_RUNS} runs at once; these are {len(ids)}"))
    return ids


def selected(session: Session, written: str) -> Sequence[Run]:
    """Return those of the named runs that exist, each once, in the order named. Raise NotFound if none does."""
    ids = numbers_in(written)
    found = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(ids)))}
    if not found:
        raise NotFound(f"There is no run {' and no run '.join(map(str, ids))}.")
    return [found[run_id] for run_id in ids if run_id in found]


def missing_from(found: Sequence[Run], written: str) -> list[int]:
    """Return the numbers of the named runs that do not exist."""
    there = {run.id for run in found}
    return [run_id for run_id in numbers_in(written) if run_id not in there]

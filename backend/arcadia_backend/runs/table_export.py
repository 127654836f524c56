"""All runs that match a filter as CSV or JSON lines. The runs are chosen at the start, and read while they are sent."""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from sqlalchemy import select

from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.tables import Run
from arcadia_backend.runs.filters import Filters, filter_conditions
from arcadia_backend.runs.routes import RunFilters
from arcadia_backend.web.formats import attachment, csv_line, spelled
from arcadia_workers.contract.values import Id

BATCH_SIZE = 500
MAX_EXCLUDED = 1_000
COLUMNS = (
    "id name state origin project algorithm env tags notes created_at started_at finished_at archived_at step frames "
    "episodes total_steps steps_per_second last_return best_return failure_message config"
).split()
Row = dict[str, Any]
Excluded = Annotated[list[Id], Query(max_length=MAX_EXCLUDED, description="Matching runs to leave out.")]

router = APIRouter(tags=["export"])


@router.get("/export/runs.csv", response_class=StreamingResponse)
def export_runs_csv(db: Db, filters: RunFilters, exclude: Excluded = []) -> StreamingResponse:  # noqa: B006
    """Export all matching runs as CSV, ordered by their ids. Tags and the configuration are JSON."""
    ids = find_ids(db, filters, exclude)

    def lines() -> Iterator[str]:
        yield csv_line(COLUMNS)
        yield from export(db, ids, to_csv)

    return attachment(lines(), "runs.csv")


@router.get("/export/runs.jsonl", response_class=StreamingResponse)
def export_runs_jsonl(db: Db, filters: RunFilters, exclude: Excluded = []) -> StreamingResponse:  # noqa: B006
    """Export all matching runs as JSON lines, ordered by their ids."""
    return attachment(export(db, find_ids(db, filters, exclude), to_json), "runs.jsonl", "application/jsonl")


def find_ids(database: Database, filters: Filters, exclude: list[int]) -> list[int]:
    """Return the ids of the matching runs."""
    with database.read() as session:
        query = select(Run.id).where(*filter_conditions(session, filters), Run.id.not_in(exclude))
        return [*session.scalars(query.order_by(Run.id))]


def export(database: Database, ids: list[int], to_line: Callable[[Row], str]) -> Iterator[str]:
    """Yield a line for each run that still exists."""
    for start in range(0, len(ids), BATCH_SIZE):
        with database.read() as session:
            query = select(Run).where(Run.id.in_(ids[start : start + BATCH_SIZE])).order_by(Run.id)
            rows = [to_row(run) for run in session.scalars(query)]
        yield "".join(map(to_line, rows))


def to_row(run: Run) -> Row:
    """Return the values of a run. NaN and infinities are strings, and times are in ISO 8601."""
    row = {column: getattr(run, column) for column in COLUMNS} | {"tags": [tag.tag for tag in run.tags]}
    for column, value in row.items():
        if isinstance(value, float):
            row[column] = value if value - value == 0 else spelled(value)
        elif column.endswith("_at") and value is not None:
            row[column] = value.isoformat()
    return row


def to_json(row: Row) -> str:
    """Return a run as a line of JSON."""
    return json.dumps(row) + "\n"


def to_csv(row: Row) -> str:
    """Return a run as a line of CSV."""
    texts = {column: json.dumps(row[column]) for column in ("tags", "config")}
    return csv_line((row | texts)[column] for column in COLUMNS)

"""All points of a run, to take away."""

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from backend.db import Db
from backend.export import service
from backend.ids import RunId
from backend.runs.service import find_run

router = APIRouter(tags=["export"])


@router.get("/export/runs/{run_id}.csv", response_class=StreamingResponse)
def export_csv(db: Db, run_id: RunId) -> StreamingResponse:
    """Every point of a run as CSV, superseded ones too."""
    with db.read() as session:
        find_run(session, run_id)

    def lines() -> Iterator[str]:
        yield ",".join(service.COLUMNS) + "\n"
        yield from service.export(db, run_id, service.csv_lines)

    return _attached(lines(), "text/csv", f"run-{run_id}.csv")


@router.get("/export/runs/{run_id}.jsonl", response_class=StreamingResponse)
def export_jsonl(db: Db, run_id: RunId) -> StreamingResponse:
    """Every point of a run as JSON lines, superseded ones too."""
    with db.read() as session:
        find_run(session, run_id)
    return _attached(service.export(db, run_id, service.json_lines), "application/jsonl", f"run-{run_id}.jsonl")


def _attached(lines: Iterator[str], media_type: str, name: str) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type=media_type, headers=headers)

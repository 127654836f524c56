"""The log of a run."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.db import Db
from backend.ids import RunId
from backend.logs import service
from backend.logs.schemas import LogPage
from backend.runs.service import find_run

router = APIRouter(tags=["logs"])

LineId = Annotated[int | None, Query(ge=0, le=2**63 - 1)]


@router.get("/runs/{run_id}/log")
def read_log(
    db: Db,
    run_id: RunId,
    after: LineId = None,
    before: LineId = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 500,
    search: Annotated[str, Query(max_length=200, description="Text that a line must contain, in any case.")] = "",
) -> LogPage:
    """The end of the log, or the lines after or before one."""
    with db.read() as session:
        find_run(session, run_id)
        return service.log_page(session, run_id, after=after, before=before, limit=limit, search=search)

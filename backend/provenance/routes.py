"""Route of a run's provenance."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.database.engine import Db
from backend.provenance import queries, schemas
from backend.web.lookup import PathRun
from workers.contract.values import SmallCount

router = APIRouter(tags=["runs"])


@router.get("/runs/{run_id}/provenance")
def read_provenance(
    db: Db,
    run: PathRun,
    attempt: Annotated[
        SmallCount | None, Query(description="Number of the attempt. Default: the latest recorded one.")
    ] = None,
) -> schemas.RunProvenance:
    """Return the code, packages, host and command that an attempt of a run was made with."""
    with db.read() as session:
        return queries.read_provenance(session, run, attempt)

"""Runs side by side."""

from fastapi import APIRouter

from backend.compare import service
from backend.compare.schemas import Comparison
from backend.compare.selection import RunIds
from backend.db import Db

router = APIRouter(tags=["compare"])


@router.get("/compare")
def compare_runs(db: Db, runs: RunIds) -> Comparison:
    """Differences of the runs' configurations, and what each run came to."""
    with db.read() as session:
        return service.compare(session, runs)

"""/examples: import of the examples."""

from fastapi import APIRouter

from backend.archives.routes import ImportProject
from backend.archives.schemas import ImportResult
from backend.database.engine import Db
from backend.examples import service

router = APIRouter(tags=["archives"])


@router.post("/examples", status_code=201)
def open_examples(db: Db, project: ImportProject = None) -> ImportResult:
    """Import runs of trained agents with the tag `example`, and a report that explains them.

    What is already here is not imported again.
    """
    return service.open_examples(db, project)

"""Example runs of trained agents, and the report that explains them (docs/archives.md)."""

from pathlib import Path

from fastapi import APIRouter

from arcadia_backend.archives.format import ImportResult
from arcadia_backend.archives.routes import ImportProject, store_archive
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.errors import NotFound

# `python -m bench.examples` makes it.
EXAMPLES = Path(__file__).with_name("examples.arcadia")
TAG = "example"
# The largest file in it.
MAX_FILE_BYTES = 8_000_000


def import_examples(database: Database, project: str | None = None) -> ImportResult:
    """Import the runs, studies and reports of the examples. Those that are already here are not imported again."""
    if not EXAMPLES.is_file():
        raise NotFound(f"The examples are missing from this build: it has no file {EXAMPLES.name}.")
    # One transaction for all would make workers and users wait for seconds.
    return store_archive(
        database, EXAMPLES, max_file_bytes=MAX_FILE_BYTES, tags=[TAG], project=project, all_or_nothing=False
    )


router = APIRouter(tags=["archives"])


@router.post("/examples", status_code=201)
def open_examples(db: Db, project: ImportProject = None) -> ImportResult:
    """Import runs of trained agents with the tag `example`, and a report that explains them.

    What is already here is not imported again.
    """
    return import_examples(db, project)

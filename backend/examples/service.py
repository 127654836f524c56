"""Import of the examples."""

from pathlib import Path

from backend.archives.schemas import ImportResult
from backend.archives.service import import_archive
from backend.database.engine import Database
from backend.errors import NotFound

# `python -m bench.examples` makes it.
EXAMPLES = Path(__file__).with_name("examples.arcadia")
TAG = "example"
# The largest file in it.
MAX_FILE_BYTES = 8_000_000


def open_examples(database: Database, project: str | None = None) -> ImportResult:
    """Import the runs, studies and reports of the examples. Those that are already here are not imported again."""
    if not EXAMPLES.is_file():
        raise NotFound(f"The examples are missing from this build: it has no file {EXAMPLES.name}.")
    # One transaction for all would make workers and users wait for seconds.
    return import_archive(
        database, EXAMPLES, max_file_bytes=MAX_FILE_BYTES, tags=[TAG], project=project, all_or_nothing=False
    )

"""Papers of plug-ins. Only the backend imports them."""

from arcadia.plugins import _server as _server  # makes the server's packages importable

# isort: split
from backend.papers.definition import (
    Item,
    Paper,
    PaperDifference,
    PaperTable,
    PrintedNumber,
    StartedStudy,
    StudyPart,
    Substitute,
)
from backend.studies.specification import Specification

__all__ = [
    "Item",
    "Paper",
    "PaperDifference",
    "PaperTable",
    "PrintedNumber",
    "Specification",
    "StartedStudy",
    "StudyPart",
    "Substitute",
]

"""Papers of plug-ins. Only the backend imports them."""

# isort: split
from arcadia_backend.papers.definition import (
    Item,
    Paper,
    PaperDifference,
    PaperTable,
    PrintedNumber,
    StartedStudy,
    StudyPart,
    Substitute,
)
from arcadia_backend.studies.specification import Specification

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

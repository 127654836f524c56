"""Papers of plug-ins. Only the backend imports them."""

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

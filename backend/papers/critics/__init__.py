"""An experiment of Arcadia: the errors of the critics of the four papers."""

from backend.papers.critics import value_errors
from backend.papers.definition import Paper

PAPER = Paper(
    name="critics",
    title="Critics",
    full_title="How wrong are the critics of the four papers, and when?",
    authors="Arcadia",
    year=2026,
    shows="Trains each paper's method, and compares its values with the returns of simulated futures.",
    items=(value_errors.RMSE, value_errors.BIAS, value_errors.CORRELATION),
)

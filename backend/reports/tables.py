"""Tables in reports: of runs, of their evaluations, of a study's points."""

from collections.abc import Container, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.comparisons.labels import run_labels
from backend.database.tables import Run
from backend.evaluations.service import list_finished
from backend.reports.blocks import TableBlock
from backend.reports.schemas import Table
from backend.runs.names import env_title, field_titles, format_value
from backend.studies.queries import to_schema
from backend.studies.service import find_study
from workers.contract.config.problems import title_of

TITLES = {
    "name": "Run",
    "method": "Method",
    "env": "Game",
    "state": "State",
    "step": "Steps",
    "frames": "Frames",
    "episodes": "Episodes",
    "last_return": "Last return",
    "best_return": "Best return",
    "steps_per_second": "Steps/s",
}
OF_EVALUATIONS = ["Run", "Step", "Protocol", "Episodes", "Mean", "95 % from", "95 % to", "Human-normalised %"]
OF_POINTS = ["Point", "Finished runs", "Mean return", "95 % from", "95 % to"]
OF_CONFIG = "config."

Cell = str | int | float | None


def table_of(session: Session, block: TableBlock) -> tuple[Table, str | None]:
    """The table as it is now, and which of its rows are left out because their runs were removed."""
    if block.of == "study":
        points = to_schema(session, find_study(session, block.numbers[0])).table
        rows: list[list[Cell]] = [[each.label, each.n, each.mean, each.low, each.high] for each in points]
        return Table(header=OF_POINTS, rows=rows), None
    numbers = list(dict.fromkeys(block.numbers))
    found = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(numbers)))}
    runs, missing = [found[number] for number in numbers if number in found], in_words_missing(numbers, found)
    if block.of == "evaluations":
        return Table(header=OF_EVALUATIONS, rows=_scores(session, runs)), missing
    titles = TITLES | {OF_CONFIG + name: title for name, title in field_titles().items()}
    called = _numbered(runs)
    rows = [[called[run.id] if column == "name" else _cell(run, column) for column in block.columns] for run in runs]
    return Table(header=[titles.get(column, column) for column in block.columns], rows=rows), missing


def _scores(session: Session, runs: Sequence[Run]) -> list[list[Cell]]:
    called = _numbered(runs)
    return [
        [
            called[run.id],
            evaluation.step,
            evaluation.protocol,
            len(found.scores),
            found.mean,
            *(found.interval or (None, None)),
            found.human_normalised,
        ]
        for run in runs
        for evaluation, found in list_finished(session, run)
    ]


def _numbered(runs: Sequence[Run]) -> dict[int, str]:
    """By run, its label with its number, also where it is alone."""
    return run_labels(runs) if len(runs) > 1 else {run.id: f"{run.name} #{run.id}" for run in runs}


def in_words_missing(numbers: Sequence[int], found: Container[int]) -> str | None:
    """Which runs were removed since."""
    gone = [str(number) for number in numbers if number not in found]
    if not gone:
        return None
    return f"Run {gone[0]} was removed." if len(gone) == 1 else f"Runs {', '.join(gone)} were removed."


def _cell(run: Run, column: str) -> Cell:
    if column.startswith(OF_CONFIG):
        value: Any = run.config.get(column.removeprefix(OF_CONFIG))
        return None if value is None else value if _is_number(value) else format_value(value)
    if column == "method":
        return title_of(run.algorithm)
    cell: Cell = env_title(run.env) if column == "env" else getattr(run, column)
    return cell


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

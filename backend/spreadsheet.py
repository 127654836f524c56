"""Lines of CSV."""

import csv
import io
from collections.abc import Iterable

from backend.json_numbers import spelled


def csv_line(cells: Iterable[object]) -> str:
    """A row, with its end."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def _cell(cell: object) -> object:
    """Spell numbers as the API does, and keep a spreadsheet from running a name as a formula."""
    if isinstance(cell, float):
        return spelled(cell)
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell

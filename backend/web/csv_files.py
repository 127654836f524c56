"""Lines of CSV, and files that are written out as they are read."""

import csv
import io
from collections.abc import Iterable, Iterator

from fastapi.responses import StreamingResponse

from backend.web.json_numbers import spelled

CRLF = "\r\n"


def csv_line(cells: Iterable[object]) -> str:
    """A row, with its end."""
    line = io.StringIO()
    # Only what ends its lines is quoted where a name has it; both are.
    csv.writer(line, lineterminator=CRLF).writerow([_cell(cell) for cell in cells])
    return line.getvalue().removesuffix(CRLF) + "\n"


def attachment(lines: Iterator[str], name: str, media_type: str = "text/csv") -> StreamingResponse:
    """A file for a browser to save."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type=media_type, headers=headers)


def _cell(cell: object) -> object:
    """Spell numbers as the API does, and keep a spreadsheet from running a name as a formula."""
    if isinstance(cell, float):
        return spelled(cell)
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell

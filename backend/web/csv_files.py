"""CSV lines, and streamed downloads."""

import csv
import io
from collections.abc import Iterable, Iterator

from fastapi.responses import StreamingResponse

from backend.web.json_numbers import spelled

CRLF = "\r\n"


def csv_line(cells: Iterable[object]) -> str:
    """Return a CSV row with its line ending."""
    line = io.StringIO()
    # The writer quotes cells that contain its line terminator, so use both characters and replace them afterwards.
    csv.writer(line, lineterminator=CRLF).writerow([_cell(cell) for cell in cells])
    return line.getvalue().removesuffix(CRLF) + "\n"


def attachment(lines: Iterator[str], name: str, media_type: str = "text/csv") -> StreamingResponse:
    """Return a streaming response that browsers save as a file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type=media_type, headers=headers)


def _cell(cell: object) -> object:
    """Format numbers as the API does, and escape text that a spreadsheet would run as a formula."""
    if isinstance(cell, float):
        return spelled(cell)
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell

"""Numbers in JSON, which has no NaN and infinity, CSV rows, and unknown parameters."""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from typing import Annotated

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import WithJsonSchema

from arcadia_backend.errors import FieldError, Invalid

# For models with ser_json_inf_nan="strings".
JsonNumber = Annotated[
    float,
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]}),
]


def spelled(value: float) -> str:
    """Return a number as text, with NaN and infinity as in the API."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


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


# The catch-all route, which returns 404.
CATCH_ALL = "{path:path}"


async def refuse_unknown_parameters(request: Request) -> None:
    """Raise Invalid if the request has a query parameter that its route does not declare."""
    route = request.scope.get("route")
    if not request.scope["query_string"] or not isinstance(route, APIRoute) or route.path.endswith(CATCH_ALL):
        return
    known = {field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, Query)}
    hint = f"the parameters are {', '.join(sorted(known))}" if known else "this path has none"
    if unknown := [name for name in dict.fromkeys(request.query_params) if name not in known]:
        raise Invalid(*(FieldError(field=name[:100], message=f"no such parameter; {hint}") for name in unknown[:20]))

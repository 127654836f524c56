"""Updates of a figure since the client's last request: only the new end of each line, if the rest is unchanged.

A cursor has the number of settled points of each trace, and a digest of those points and of the style. If the digest
of the same points is unchanged, the response has only the points after them. Otherwise it has the whole figure.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from backend.comparisons.selection import MAX_RUNS
from backend.errors import FieldError, Invalid
from backend.figures.schemas import Figure

# New points change the last bucket. When the store finishes a chunk, the bucket before may change too.
UNSETTLED_POINTS = 2
ARRAYS = ("x", "y", "customdata", "text")
# Of a run: ancestors and forks, two ends of a band, the raw and the smoothed line, and marks at NaN.
MAX_TRACES = 7 * MAX_RUNS
CURSOR = re.compile(rf"([0-9a-f]{{16}})((?:-\d{{1,5}}){{0,{MAX_TRACES}}})")
MAX_CURSOR_LENGTH = 16 + 6 * MAX_TRACES

Trace = dict[str, Any]


def add_cursor(figure: Figure, after: str | None) -> Figure:
    """Return the figure with a cursor. Given the cursor of an earlier response, return only what is new since."""
    kept = [max(0, len(trace["x"]) - UNSETTLED_POINTS) for trace in figure.data]
    figure.cursor = "-".join([_digest(figure.data, kept), *map(str, kept)])
    if after is None:
        return figure
    digest, known = _parse(after)
    if len(known) != len(figure.data) or digest != _digest(figure.data, known):
        return figure
    rest = [_rest(trace, number) for trace, number in zip(figure.data, known, strict=True)]
    return Figure(data=rest, layout=figure.layout, cursor=figure.cursor, complete=False, missing=figure.missing)


def _rest(trace: Trace, known: int) -> Trace:
    arrays = {name: trace[name][known:] for name in ARRAYS if name in trace}
    return {"uid": trace["uid"], "keep": known, **arrays}


def _digest(traces: Sequence[Trace], kept: Sequence[int]) -> str:
    settled = [
        {name: value[:number] if name in ARRAYS else value for name, value in trace.items()}
        for trace, number in zip(traces, kept, strict=True)
    ]
    written = json.dumps(settled, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _parse(cursor: str) -> tuple[str, list[int]]:
    parts = CURSOR.fullmatch(cursor)
    if parts is None:
        raise Invalid(FieldError(field="after", message="not a cursor: send the one from the last response"))
    return parts[1], [int(number) for number in parts[2].split("-")[1:]]

"""What is new in a figure since its reader last asked: the rest of each line, when all before it is as it was.

A cursor holds how many points of each trace will hardly change any more, and a digest of them and of the looks. When
the digest of as many points is still the same, only what follows them is sent; otherwise everything is.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from backend.comparisons.selection import MAX_RUNS
from backend.errors import FieldError, Invalid
from backend.figures.schemas import Figure

# New points change the last bucket, and one that goes from the store's open chunk to a closed one the bucket before.
UNSETTLED = 2
ARRAYS = ("x", "y", "customdata", "text")
# Of a run: what it went on from with the forks, a band's two ends, the raw and the smooth line, what is no number.
MOST_TRACES = 7 * MAX_RUNS
CURSOR = re.compile(rf"([0-9a-f]{{16}})((?:-\d{{1,5}}){{0,{MOST_TRACES}}})")
LONGEST_CURSOR = 16 + 6 * MOST_TRACES

Trace = dict[str, Any]


def since(figure: Figure, after: str | None) -> Figure:
    """The figure with a cursor; given the cursor of an earlier answer, only what is new since."""
    kept = [max(0, len(trace["x"]) - UNSETTLED) for trace in figure.data]
    figure.cursor = "-".join([_digest(figure.data, kept), *map(str, kept)])
    if after is None:
        return figure
    digest, had = _read(after)
    if len(had) != len(figure.data) or digest != _digest(figure.data, had):
        return figure
    rest = [_rest(trace, number) for trace, number in zip(figure.data, had, strict=True)]
    return Figure(data=rest, layout=figure.layout, cursor=figure.cursor, complete=False, missing=figure.missing)


def _rest(trace: Trace, had: int) -> Trace:
    arrays = {name: trace[name][had:] for name in ARRAYS if name in trace}
    return {"uid": trace["uid"], "keep": had, **arrays}


def _digest(traces: Sequence[Trace], kept: Sequence[int]) -> str:
    told = [
        {name: value[:number] if name in ARRAYS else value for name, value in trace.items()}
        for trace, number in zip(traces, kept, strict=True)
    ]
    written = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _read(cursor: str) -> tuple[str, list[int]]:
    parts = CURSOR.fullmatch(cursor)
    if parts is None:
        raise Invalid(FieldError(field="after", message="is no cursor; pass on the one that came with the last answer"))
    return parts[1], [int(number) for number in parts[2].split("-")[1:]]

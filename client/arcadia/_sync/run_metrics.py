# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Metrics of a run, read in as many requests as their points need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arcadia._sync.transport import Transport
from arcadia.metrics import Metrics, Series, join_series, parse_series

NAMES_PER_REQUEST = 20
# Maximum number of points of a series that the API returns at once.
POINTS_PER_REQUEST = 5_000


def read_metrics(transport: Transport, run_id: int, names: Sequence[str], x: str, buckets: int | None) -> Metrics:
    """Return some metrics of a run, or all if no names are given."""
    if not names:
        names = transport.get(f"/runs/{run_id}/metric-names")
    found: dict[str, Series] = {}
    for start in range(0, len(names), NAMES_PER_REQUEST):
        wanted = names[start : start + NAMES_PER_REQUEST]
        found |= _read(transport, run_id, wanted, x=x, buckets=buckets or POINTS_PER_REQUEST)
    if buckets is None:
        found = {name: _complete(transport, run_id, series, x) for name, series in found.items()}
    return Metrics(run_id, x, {name: found[name] for name in names if name in found})


def _complete(
    transport: Transport, run_id: int, series: Series, x: str, low: float = -math.inf, high: float = math.inf
) -> Series:
    """Return all points of a thinned series from `low` to `high`: halve the range until each part fits."""
    if not series.thinned or series.x[0] == series.x[-1]:
        return series
    # The halves meet between two neighboring numbers, so that no point is in both.
    middle = (series.x[0] + series.x[-1]) / 2
    halves = []
    for start, end in ((low, middle), (math.nextafter(middle, math.inf), high)):
        bounds = {name: value for name, value in (("from", start), ("to", end)) if math.isfinite(value)}
        found = _read(transport, run_id, [series.name], x=x, buckets=POINTS_PER_REQUEST, **bounds)
        if part := found.get(series.name):
            halves.append(_complete(transport, run_id, part, x, start, end))
    return join_series(halves)


def _read(transport: Transport, run_id: int, names: Sequence[str], **params: Any) -> dict[str, Series]:
    found = transport.get(f"/runs/{run_id}/metrics", names=",".join(names), **params)
    return {name: parse_series(name, data) for name, data in found["series"].items()}

# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Metrics of a run, read in as many requests as their points need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arcadia._sync.transport import Transport
from arcadia.metrics import Metrics, parse_series

NAMES_PER_REQUEST = 20


def read_metrics(transport: Transport, run_id: int, names: Sequence[str], x: str, buckets: int | None) -> Metrics:
    """Return some metrics of a run, or all if no names are given."""
    if not names:
        names = transport.get(f"/runs/{run_id}/metric-names")
    series: dict[str, Any] = {}
    # Full resolution unless the caller wants buckets.
    thinning: dict[str, Any] = {"resolution": "full"} if buckets is None else {"buckets": buckets}
    for start in range(0, len(names), NAMES_PER_REQUEST):
        wanted = ",".join(names[start : start + NAMES_PER_REQUEST])
        found = transport.get(f"/runs/{run_id}/metrics", names=wanted, x=x, **thinning)
        series |= {name: parse_series(name, data) for name, data in found["series"].items()}
    return Metrics(run_id, x, {name: series[name] for name in names if name in series})

# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Runs and aliases that references name, and figures and metrics of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from arcadia._sync.transport import LOGGER, Transport
from arcadia.errors import NotFoundError
from arcadia.figures import Figure
from arcadia.names import (
    Last,
    Name,
    Numbers,
    RunReference,
    RunReferences,
    flatten_references,
    joined_ids,
    parse_reference,
    read_run_page,
    require_one_id,
    require_one_match,
)
from arcadia.records.artifact import Alias
from arcadia.tables import Metrics, Series, join_series, parse_series

IDS_PER_REQUEST = 100


def find_run(transport: Transport, reference: RunReference) -> dict[str, Any]:
    """Return the one run that a reference names."""
    # Lists leave out some fields, such as the configuration.
    run: dict[str, Any] = transport.get(f"/runs/{find_run_id(transport, reference)}")
    return run


def find_run_id(transport: Transport, reference: RunReference) -> int:
    """Return the number of the one run that a reference names. A number is not looked up."""
    parsed = parse_reference(reference)
    if isinstance(parsed, Numbers):
        return require_one_id(parsed, reference)
    return _find_last(transport) if isinstance(parsed, Last) else _find_named(transport, parsed)


def find_alias(transport: Transport, name: str) -> Alias | None:
    """Return an alias, or None if it does not exist."""
    return next((Alias(data) for data in transport.get("/aliases") if data["name"] == name), None)


def find_runs(
    transport: Transport, references: Sequence[RunReference], include: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the runs that references name, each once and in this order. Those of a range are listed runs."""
    runs_by_id: dict[int, dict[str, Any]] = {}
    for reference in references:
        parsed = parse_reference(reference)
        if isinstance(parsed, Numbers) and parsed.is_range:
            runs = _find_numbered(transport, parsed.ids, include)
            if not runs:
                raise NotFoundError(404, f"There is no run in {reference}.")
        else:
            runs = [find_run(transport, reference)]
        for run in runs:
            runs_by_id.setdefault(run["id"], run)
    return list(runs_by_id.values())


def find_run_ids(transport: Transport, references: Iterable[RunReferences]) -> list[int]:
    """Return the numbers of the runs that references name, each once and in this order.

    Leave out deleted runs of a range with a warning. A single number is not looked up.
    """
    ids: dict[int, None] = {}
    for reference in flatten_references(references):
        parsed = parse_reference(reference)
        if isinstance(parsed, Numbers) and parsed.is_range:
            existing = [run["id"] for run in _find_numbered(transport, parsed.ids, ())]
            if not existing:
                raise NotFoundError(404, f"There is no run in {reference}.")
            if missing := [str(run_id) for run_id in parsed.ids if run_id not in existing]:
                LOGGER.warning("Left out of %s, because they do not exist: %s.", reference, ", ".join(missing))
            ids |= dict.fromkeys(existing)
        elif isinstance(parsed, Numbers):
            ids |= dict.fromkeys(parsed.ids)
        else:
            ids[find_run_id(transport, reference)] = None
    return list(ids)


def _find_last(transport: Transport) -> int:
    newest = (transport.get("/runs", sort="-created_at", limit=1))["items"]
    if not newest:
        raise NotFoundError(404, "There is no run yet.")
    return int(newest[0]["id"])


def _find_named(transport: Transport, named: Name) -> int:
    page = transport.get("/runs", name=named.name, limit=IDS_PER_REQUEST)
    return require_one_match([int(run["id"]) for run in page["items"] if run["name"] == named.name], named.name)


def _find_numbered(transport: Transport, ids: Sequence[int], include: Sequence[str]) -> list[dict[str, Any]]:
    """Return the runs with these numbers. Leave out deleted ones, but not archived ones."""
    runs_by_id: dict[int, dict[str, Any]] = {}
    for start in range(0, len(ids), IDS_PER_REQUEST):
        wanted = list(ids[start : start + IDS_PER_REQUEST])
        for archived in (False, True):
            if missing := [run_id for run_id in wanted if run_id not in runs_by_id]:
                page = transport.get(
                    "/runs", id=missing, archived=archived, include=list(include), limit=IDS_PER_REQUEST
                )
                runs_by_id |= {run["id"]: run for run in read_run_page(page)}
    return [runs_by_id[run_id] for run_id in ids if run_id in runs_by_id]


def find_figure(transport: Transport, name: str, runs: RunReferences, **options: Any) -> Figure:
    """Return a figure of some runs. Name the known figures if there is no such figure."""
    ids = joined_ids(find_run_ids(transport, [runs]))
    try:
        return Figure(name, transport.get(f"/figures/{quote(name, safe='')}", runs=ids or None, **options))
    except NotFoundError:
        known = [each["name"] for each in transport.get("/figures")]
        if name in known:
            raise
        raise NotFoundError.of_name("figure", name, known) from None


NAMES_PER_REQUEST = 20
# Maximum number of points of a series that the API returns at once.
POINTS_PER_REQUEST = 5_000


def read_metrics(transport: Transport, run_id: int, names: Sequence[str], x: str, buckets: int | None) -> Metrics:
    """Return some metrics of a run, or all if no names are given."""
    if not names:
        names = transport.get(f"/runs/{run_id}/metric-names")
    series_by_name: dict[str, Series] = {}
    for start in range(0, len(names), NAMES_PER_REQUEST):
        wanted = names[start : start + NAMES_PER_REQUEST]
        series_by_name |= _read(transport, run_id, wanted, x=x, buckets=buckets or POINTS_PER_REQUEST)
    if buckets is None:
        series_by_name = {name: _complete(transport, run_id, series, x) for name, series in series_by_name.items()}
    return Metrics(run_id, x, {name: series_by_name[name] for name in names if name in series_by_name})


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
        series_by_name = _read(transport, run_id, [series.name], x=x, buckets=POINTS_PER_REQUEST, **bounds)
        if part := series_by_name.get(series.name):
            halves.append(_complete(transport, run_id, part, x, start, end))
    return join_series(halves)


def _read(transport: Transport, run_id: int, names: Sequence[str], **params: Any) -> dict[str, Series]:
    metrics = transport.get(f"/runs/{run_id}/metrics", names=",".join(names), **params)
    return {name: parse_series(name, data) for name, data in metrics["series"].items()}

"""Groups of runs, as `arcadia runs --group-by` prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arcadia._sync.transport import Transport
from arcadia.cli.formats import MISSING, age, number
from arcadia.cli.output import print_json, print_table


def print_groups(
    transport: Transport,
    filters: Mapping[str, Any],
    by: str,
    values: Sequence[str],
    sort: str,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """Print the groups of runs with equal values."""
    page = transport.get("/run-groups", **filters, by=by, value=list(values), sort=sort, limit=limit)
    groups: list[dict[str, Any]] = page["items"]
    if as_json:
        print_json(groups)
        return
    columns = ["GROUP*", "RUNS>", *(f"{value.upper()}>" for value in values), "AGE>"]
    rows = [
        [
            group["label"],
            str(group["runs"]),
            *(_spread(group["statistics"][value]) for value in values),
            age(group["newest"]),
        ]
        for group in groups
    ]
    print_table(columns, rows, empty="There are no such runs.")


def _spread(statistic: Mapping[str, Any]) -> str:
    if statistic["mean"] is None:
        return MISSING
    spread = "" if statistic["std"] is None else f" ± {number(statistic['std'])}"
    return f"{number(statistic['mean'])}{spread}"

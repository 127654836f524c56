"""`arcadia metrics`: list the metrics of a run, or print the points of some."""

from __future__ import annotations

import csv
import sys
from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia._sync.runs import Run
from arcadia.cli import completion
from arcadia.cli.chart import draw_chart
from arcadia.cli.connection import open_client
from arcadia.cli.formats import clean, number
from arcadia.cli.options import Json, RunReference
from arcadia.cli.output import console, print_json, print_table, say, show
from arcadia.errors import ArcadiaError
from arcadia.listed_runs import read_run_page

CHART_LINES = 12
# Maximum number of metrics in one request.
MAX_NAMES = 50


def metrics(
    ctx: typer.Context,
    run: RunReference,
    names: Annotated[
        list[str], typer.Argument(metavar="[NAMES...]", help="Metrics.", autocompletion=completion.complete_metric)
    ] = [],  # noqa: B006 - Typer copies it
    x: Annotated[str, typer.Option("--x", help="X axis: step, frames, time or epoch.")] = "step",
    buckets: Annotated[
        int, typer.Option(min=1, max=5_000, help="Merge points into buckets if there are more than this.")
    ] = 500,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the points as CSV, or without NAMES the list.")] = False,
    as_json: Json = False,
) -> None:
    """List the metrics of a run, or draw some as charts."""
    client = open_client(ctx)
    found = client.run(run)
    if not names:
        _list(client, found, as_csv=as_csv, as_json=as_json)
        return
    data = client.transport.get(f"/runs/{found.id}/metrics", names=",".join(names), x=x, buckets=buckets)
    if unknown := [name for name in names if name not in data["series"]]:
        known = "`arcadia metrics RUN` lists its metrics"
        raise ArcadiaError(f"Run {found.id} has not reported {', '.join(unknown)}; {known}.")
    if as_json:
        print_json(data)
    elif as_csv:
        _print_csv(data["series"], x)
    else:
        _draw(data["series"], x)


def _list(client: Client, run: Run, *, as_csv: bool, as_json: bool) -> None:
    names = run.metric_names()
    extents: dict[str, Any] = {}
    for start in range(0, len(names), MAX_NAMES):
        params = {"id": run.id, "metric": names[start : start + MAX_NAMES]}
        archived = run.is_archived or None
        for item in read_run_page(client.transport.get("/runs", **params, archived=archived)):
            extents |= item["metrics"]
    if as_json:
        print_json(extents)
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["metric", "last", "min", "max"])
        writer.writerows([name, *(extents[name][part] for part in ("last", "min", "max"))] for name in extents)
        return
    rows = [[name, *(number(extents[name][part]) for part in ("last", "min", "max"))] for name in extents]
    print_table(["METRIC*", "LAST>", "MIN>", "MAX>"], rows, empty=f"Run {run.id} has reported no metric yet.")


def _print_csv(series: dict[str, Any], x: str) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["metric", x, "mean", "min", "max", "count"])
    for name, points in series.items():
        columns = (points[column] for column in ("x", "mean", "min", "max", "count"))
        writer.writerows([name, *row] for row in zip(*columns, strict=True))


def _draw(series: dict[str, Any], x: str) -> None:
    for name, points in series.items():
        show(clean(f"{name} by {x}, {points['total']:,} points"))
        values = [float("nan") if value is None else float(value) for value in points["mean"]]
        lines = draw_chart(points["x"], values, console().width, CHART_LINES)
        show("\n".join(lines)) if lines else say("No value is a finite number.")

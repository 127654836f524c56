"""`arcadia figure`: save a figure of runs as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.options import GroupBy, Json, RunReferences
from arcadia.cli.output import print_json, show


def figure(
    ctx: typer.Context,
    runs: RunReferences,
    name: Annotated[
        str, typer.Option(help="Figure, such as curves or profile.", autocompletion=completion.complete_figure)
    ] = "curves",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File: .json, .csv, .html, .png, .svg or .pdf.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric of curves.", autocompletion=completion.complete_metric)
    ] = None,
    group_by: GroupBy = "",
    x: Annotated[str | None, typer.Option("--x", help="step, frames, time or epoch.")] = None,
    smoothing: Annotated[float | None, typer.Option(help="Weight of the past, from 0 to 0.99.")] = None,
    as_json: Json = False,
) -> None:
    """Save a figure of runs, as the pages show it."""
    if (out is None) != as_json:
        raise typer.BadParameter("give either --out FILE or --json")
    client = open_client(ctx)
    params: dict[str, Any] = {"metric": metric, "group_by": group_by or None, "x": x, "smoothing": smoothing}
    found = client.figure(name, runs, **params)
    if out is None:
        print_json(found.data)
    else:
        show(str(found.save(out)))

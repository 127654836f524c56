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
    x: Annotated[
        str | None, typer.Option("--x", help="X axis: step, frames, time or epoch; in a scatter, a number of each run.")
    ] = None,
    smoothing: Annotated[float | None, typer.Option(help="Smoothing: weight of the past, from 0 to 0.99.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Another parameter of the figure, such as y=best_return. Repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Save a figure of runs, as the pages show it."""
    if (out is None) != as_json:
        raise typer.BadParameter("give either --out FILE or --json")
    client = open_client(ctx)
    params: dict[str, Any] = {"metric": metric, "group_by": group_by or None, "x": x, "smoothing": smoothing}
    params |= _read_options(option or [])
    found = client.figure(name, runs, **params)
    if out is None:
        print_json(found.data)
    else:
        show(str(found.save(out)))


def _read_options(options: list[str]) -> dict[str, str]:
    """Return the parameters in NAME=VALUE. Raise BadParameter for other texts."""
    pairs = [option.partition("=") for option in options]
    for name, equals, _value in pairs:
        if not name or not equals:
            raise typer.BadParameter("write each --option as NAME=VALUE, such as y=best_return")
    return {name: value for name, _equals, value in pairs}

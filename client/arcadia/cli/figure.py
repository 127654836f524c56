"""`arcadia figure`: save a figure of runs as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.options import GroupBy, Json, RunReferences
from arcadia.cli.output import print_json, show
from arcadia.cli.selection import select_runs
from arcadia.images import to_image

IMAGES = {".png": "png", ".svg": "svg", ".pdf": "pdf"}


def figure(
    ctx: typer.Context,
    runs: RunReferences,
    name: Annotated[
        str, typer.Option(help="Figure, such as curves or profile.", autocompletion=completion.complete_figure)
    ] = "curves",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File: .json, .png, .svg or .pdf.")] = None,
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
    ids = ",".join(str(run["id"]) for run in select_runs(client, runs))
    found = client.transport.get(f"/figures/{name}", runs=ids, **params)
    if out is None:
        print_json(found)
    else:
        save_figure(found, out)
        show(str(out))


def save_figure(figure: dict[str, Any], file: Path) -> None:
    """Save a Plotly figure in the format that the file's name ends with."""
    if file.suffix == ".json":
        file.write_text(json.dumps(figure))
    elif file.suffix in IMAGES:
        file.write_bytes(to_image(figure, IMAGES[file.suffix]))  # type: ignore[arg-type]
    else:
        raise typer.BadParameter(f"{file.name} must end in .json, .png, .svg or .pdf")

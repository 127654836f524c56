"""`arcadia agent`: agents as files that play anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcadia.cli.chosen_checkpoints import choose
from arcadia.cli.connection import open_client
from arcadia.cli.options import Checkpoint, Json, NewProject, RunReference
from arcadia.cli.output import print_json, show
from arcadia.errors import ArcadiaError

app = typer.Typer(help="Agents as files that play anywhere.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def export(
    ctx: typer.Context,
    run: RunReference,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Agent file or folder. Default: run-12.agent.zip.")
    ] = None,
    checkpoint: Checkpoint = "newest",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Json = False,
) -> None:
    """Save a checkpoint's agent as one file. With --run-dir, export a local run without a server."""
    if file is not None and file.is_file() and not overwrite:
        raise ArcadiaError(f"{file} exists. Replace it with --overwrite.")
    found, choice = choose(open_client(ctx), run, checkpoint)
    path = found.export_agent(file, checkpoint=choice, progress=not as_json)
    print_json(str(path)) if as_json else show(str(path))


@app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Agent file, or model of Stable-Baselines3.", exists=True, dir_okay=False),
    ],
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="NAME", help="Environment of a model of Stable-Baselines3, such as pong."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run. Default: as in the file.")] = None,
    project: NewProject = None,
    as_json: Json = False,
) -> None:
    """Import an agent as a run with one checkpoint, to evaluate, record and watch it."""
    client = open_client(ctx)
    run = client.import_agent(file, env=game, name=name, project=project or None, progress=not as_json)
    print_json(run.data) if as_json else show(f"{file}: run {run.id}, {run.url}")

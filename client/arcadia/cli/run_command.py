"""`arcadia run`: run a command, and log it as a run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from arcadia.cli.connection import options_of
from arcadia.cli.options import Changes, parse_changes
from arcadia.errors import ArcadiaError
from arcadia.settings import PROJECT_VARIABLE


def run(
    ctx: typer.Context,
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="The command, such as: python train.py --seed 3")
    ],
    project: Annotated[str | None, typer.Option(envvar=PROJECT_VARIABLE, help="Project of the run.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run. Default: the script's name.")] = None,
    method: Annotated[str | None, typer.Option(help="Name of the method, such as PPO.")] = None,
    env: Annotated[str | None, typer.Option(help="Name of the environment.")] = None,
    tags: Annotated[list[str], typer.Option("--tag", help="Tag. Repeat it for several.")] = [],  # noqa: B006 - Typer copies it
    changes: Changes = [],  # noqa: B006 - Typer copies it
    total_steps: Annotated[int | None, typer.Option(min=1, help="Number of steps, for the progress bar.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Id of the run, to continue it.")] = None,  # noqa: A002 - the run's `id`
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds between SIGINT and SIGTERM after a click on Stop.")
    ] = 30.0,
) -> None:
    """Run a command and log it as a run: its output, and what it logs with TensorBoard, wandb or Arcadia."""
    from arcadia.capture.command import CapturedCommand
    from arcadia.reporting.initialization import start_run
    from arcadia.reporting.run_options import RunOptions

    if shutil.which(command[0]) is None:
        raise ArcadiaError(f"The command {command[0]} was not found. Check its name, or give its path.")
    connection = options_of(ctx)
    run_options = RunOptions(
        project,
        name,
        parse_changes(changes),
        method=method,
        env=env,
        tags=tags,
        total_steps=total_steps,
        id=id,
        url=connection.url,
        token=connection.token(),
        default_name=script_name(command),
        origin_label="Command",
        command=command,
    )
    raise typer.Exit(CapturedCommand(start_run(run_options), command, grace).execute())


def script_name(command: list[str]) -> str:
    """Return the name of the script in a command, of the module after -m, or of the program."""
    for before, part in zip(["", *command], command, strict=False):
        if part.endswith(".py") or before == "-m":
            return Path(part).name
    return Path(command[0]).name

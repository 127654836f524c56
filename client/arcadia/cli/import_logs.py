"""`arcadia follow` and `arcadia import-logs`: runs from the logs of other tools."""

from __future__ import annotations

import signal
import threading
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia.cli.connection import resolve_connection
from arcadia.cli.output import say, show
from arcadia.errors import ArcadiaError
from arcadia.settings import PROJECT_VARIABLE

Project = Annotated[str | None, typer.Option(envvar=PROJECT_VARIABLE, help="Project of the runs.")]


class Source(str, Enum):
    """Tool that wrote the files."""

    tensorboard = "tensorboard"
    wandb = "wandb"
    monitor = "monitor"
    csv = "csv"


def follow(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="LOGDIR", help="Folder that a program logs to with TensorBoard.")],
    project: Project = None,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between reads of the files.")] = 2.0,
) -> None:
    """Log a program's TensorBoard files while it writes them, until Ctrl-C. Each folder in LOGDIR is a run."""
    from arcadia.importing.following import Follower
    from arcadia.reporting.connection import Connection, RejectedError, UnavailableError

    if not folder.is_dir():
        raise ArcadiaError(f"{folder} is not a folder. Use the folder that TensorBoard is started with.")
    follower = Follower(Connection(*resolve_connection(ctx)), folder, project, show)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_signal: stop.set())
    say(f"Following {folder}. Press Ctrl-C to end.")
    try:
        while not stop.is_set():
            follower.send()
            stop.wait(interval)
        follower.close()
    except (RejectedError, UnavailableError, OSError) as error:
        raise ArcadiaError(f"{folder} is no longer followed. {error} Run the command again to continue.") from None


def import_logs(
    ctx: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS...", help="Files, or folders with files.")],
    source: Annotated[Source, typer.Option("--from", help="Tool that wrote the files.")],
    project: Project = None,
    step: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the step in CSV files.")] = None,
) -> None:
    """Import logs of other tools as runs. Importing files again only adds what is new in them."""
    from arcadia.importing import sending
    from arcadia.reporting.connection import Connection, RejectedError, UnavailableError

    connection = Connection(*resolve_connection(ctx))
    runs = [run for path in paths for run in find_runs(source, path, step)]
    if not runs:
        raise ArcadiaError(f"There are no files of {source.value} in {', '.join(map(str, paths))}.")
    for run in runs:
        try:
            upload, sent = sending.import_run(connection, run, project)
        except (RejectedError, UnavailableError, OSError) as error:
            raise ArcadiaError(f"{run.name} is not imported completely: {error}") from None
        show(f"{run.name} is at {connection.url}{upload.path}, with {sent} new events")
        if upload.conflicts:
            say(describe_conflicts(run.name, upload.conflicts))


def describe_conflicts(name: str, conflicts: int) -> str:
    """Return a warning about events that differ from those of an earlier import."""
    return (
        f"{name}: {conflicts:,} events differ from those that were imported before from files with these names. All "
        "are kept, so some steps may have two points. Rename the files to import them as another run."
    )


def find_runs(source: Source, path: Path, step: str | None) -> list[Any]:
    """Return the runs in a path."""
    from arcadia.importing import tables, tensorboard_files, wandb_files

    if not path.exists():
        raise ArcadiaError(f"{path} does not exist.")
    if source is Source.tensorboard:
        return list(tensorboard_files.find_runs(path if path.is_dir() else path.parent))
    if source is Source.wandb:
        return list(wandb_files.find_runs(path))
    return list(tables.find_monitors(path) if source is Source.monitor else tables.find_csv(path, step))

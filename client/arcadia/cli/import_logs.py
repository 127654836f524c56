"""`arcadia follow` and `arcadia import-logs`: runs from the logs of other tools."""

from __future__ import annotations

import signal
import threading
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia.cli.connection import resolve_connection
from arcadia.cli.formats import plural
from arcadia.cli.output import say, show
from arcadia.errors import ArcadiaError
from arcadia.settings import PROJECT_VARIABLE

Project = Annotated[str | None, typer.Option(envvar=PROJECT_VARIABLE, help="Project of the runs.")]


# Longer lists of problems are cut.
MAX_LISTED = 20


class Source(str, Enum):
    """Tool that wrote the files."""

    tensorboard = "tensorboard"
    wandb = "wandb"
    monitor = "monitor"
    csv = "csv"


FILES = {
    Source.tensorboard: "event files of TensorBoard",
    Source.wandb: "folders of wandb with the name offline-run-*",
    Source.monitor: "files with the name *.monitor.csv",
    Source.csv: "CSV files",
}


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
    """Import logs of other tools as runs. Importing files again only adds what is new in them.

    Files and media that cannot be read are listed at the end, and do not stop the others.
    """
    from arcadia.importing import sending
    from arcadia.reporting.connection import Connection, RejectedError, UnavailableError, WrongTokenError

    connection = Connection(*resolve_connection(ctx))
    problems: list[str] = []
    omissions: list[str] = []
    runs = [run for path in paths for run in find_runs(source, path, step, problems)]
    if not (runs or problems):
        raise ArcadiaError(f"There are no {FILES[source]} in {', '.join(map(str, paths))}.")
    for run in runs:
        try:
            imported = sending.import_run(connection, run, project)
        except UnavailableError as error:
            message = f"{run.name} is not imported completely: {error} Run the command again to continue."
            raise ArcadiaError(message) from None
        except WrongTokenError as error:
            raise ArcadiaError(f"{run.name} is not imported. {error}") from None
        except (RejectedError, OSError) as error:
            problems.append(f"{run.name} is not imported completely: {error}")
            continue
        show(f"{run.name} is at {connection.url}{imported.path}, with {plural(imported.sent, 'new event')}")
        if imported.conflicts:
            say(describe_conflicts(run.name, imported.conflicts))
        omissions += imported.omissions
        problems += imported.problems
    if omissions:
        say(f"{plural(len(omissions), 'part')} of the files left out, because they cannot be stored:")
        say_first(omissions)
    if problems:
        say(f"{len(problems)} not imported completely. Repair the files, then run the command again.")
        say_first(problems)
        raise typer.Exit(1)


def describe_conflicts(name: str, conflicts: int) -> str:
    """Return a warning about events that differ from those of an earlier import."""
    return (
        f"{name}: {conflicts:,} events differ from those that were imported before from files with these names. All "
        "are kept, so some steps may have two points. Rename the files to import them as another run."
    )


def say_first(sentences: list[str]) -> None:
    """Print the first sentences of a list, and how many more there are."""
    for sentence in sentences[:MAX_LISTED]:
        say(f"  {sentence}")
    if len(sentences) > MAX_LISTED:
        say(f"  and {len(sentences) - MAX_LISTED:,} more")


def find_runs(source: Source, path: Path, step: str | None, problems: list[str]) -> list[Any]:
    """Return the runs in a path. Add a sentence to the problems for each that cannot be read."""
    from arcadia.importing import tables, tensorboard_files, wandb_files

    if not path.exists():
        raise ArcadiaError(f"{path} does not exist.")
    if source is Source.tensorboard:
        return list(tensorboard_files.find_runs(path if path.is_dir() else path.parent))
    if source is Source.wandb:
        return list(wandb_files.find_runs(path, problems))
    return list(
        tables.find_monitors(path, problems) if source is Source.monitor else tables.find_csv(path, problems, step)
    )

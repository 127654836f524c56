"""`arcadia run`, `sync`, `follow`, `import-logs` and `mcp`: runs of other programs, and tools of assistants."""

from __future__ import annotations

import shutil
import signal
import threading
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia.cli.options import Changes, options_of, parse_changes, resolve_connection
from arcadia.cli.output import plural, say, show
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
    from arcadia.importing.tensorboard_files import Follower
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
    without_settings: list[str] = []
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
        if source is Source.tensorboard and not imported.has_settings:
            without_settings.append(run.name)
        omissions += imported.omissions
        problems += imported.problems
    say_left_out(without_settings, omissions, problems)
    if problems:
        raise typer.Exit(1)


def say_left_out(without_settings: list[str], omissions: list[str], problems: list[str]) -> None:
    """Print the names of runs without settings, and what was not imported."""
    if without_settings:
        say(
            f"{plural(len(without_settings), 'run')} without settings and environment, because the event files have "
            "none. Stable-Baselines3 never writes them. To record them, train with: arcadia run -- python SCRIPT"
        )
        say_first(without_settings)
    if omissions:
        say(f"{plural(len(omissions), 'part')} of the files left out, because they cannot be stored:")
        say_first(omissions)
    if problems:
        say(f"{len(problems)} not imported completely. Repair the files, then run the command again.")
        say_first(problems)


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


def sync(
    ctx: typer.Context,
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="[DIRECTORIES...]", help="Journals of runs, or folders with journals. Default: all your journals."
        ),
    ] = [],  # noqa: B006 - Typer copies it
    clean: Annotated[bool, typer.Option("--clean", help="Delete the journals that are uploaded.")] = False,
) -> None:
    """Upload the journals of runs that were logged offline. It can be repeated: each event arrives once."""
    from arcadia.reporting import uploader
    from arcadia.reporting.layout import describe_conflicts, describe_left_out

    options = options_of(ctx)
    results = [uploader.sync(each, options.url, options.token()) for each in uploader.find_journals(directories)]
    for result in results:
        name = result.directory.path.name
        if result.problem:
            say(f"{name} is not uploaded. {result.problem}")
        else:
            show(f"{name} is at {result.page}{', and its script still runs' if result.is_running else ''}")
        if result.conflicts:
            say(f"{name}: {describe_conflicts(result.conflicts)}")
        for sentence in result.left_out:
            say(f"{name}: {sentence}")
        if result.directory.read_left_out():
            say(f"{name}: {describe_left_out(result.directory)}")
    if not results:
        say("Every journal is uploaded.")
    if clean:
        deleted, kept = uploader.clean(directories)
        say(f"Deleted {plural(len(deleted), 'uploaded journal')}.")
        for journal in kept:
            say(f"{journal.path} is kept, because the server has rejected parts of it. Delete it if you need none.")
    if any(result.problem and not result.is_running for result in results):
        raise typer.Exit(1)


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
    from arcadia.capture import CapturedCommand
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


def serve_mcp(
    ctx: typer.Context,
    write: Annotated[bool, typer.Option("--write", help="Let the assistant start and stop runs and studies.")] = False,
) -> None:
    """Serve an assistant's tools over standard input and output (MCP)."""
    try:
        from arcadia.mcp_server import serve_stdio
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise ArcadiaError(
            "The MCP server needs more packages. Install them: pip install 'arcadia-client[mcp]'."
        ) from None
    url, token = resolve_connection(ctx)
    serve_stdio(url, token, write=write)

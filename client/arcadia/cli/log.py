"""`arcadia log`: print and follow the log of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.finishing import continues
from arcadia.cli.formats import clean
from arcadia.cli.options import RunReference
from arcadia.cli.output import print_json_line, show
from arcadia.cli.waiting import interruptible
from arcadia.records.log_line import LogLine

# Maximum number of lines that the API returns at once.
MAX_LINES = 5_000


def log(
    ctx: typer.Context,
    run: RunReference,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print new lines until the run has ended or is paused.")
    ] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=MAX_LINES, help="Number of last lines.")] = 100,
    search: Annotated[str, typer.Option(help="Only lines that contain this text.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as one line of JSON.")] = False,
) -> None:
    """Print the last lines of a run's log, or follow it."""
    found = open_client(ctx).run(run)
    with interruptible(continues([found])):
        for line in found.log(follow=follow, search=search, last=lines):
            if as_json:
                print_json_line(line.data)
            else:
                show(format_line(line))


def format_line(line: LogLine) -> str:
    """Return a line of the log with its local time. The level is shown unless it is info."""
    level = "" if line.level == "info" else f"{line.level.upper()}: "
    return f"{line.time.astimezone():%H:%M:%S} {level}{clean(line.message)}"

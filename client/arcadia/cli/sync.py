"""`arcadia sync`: upload the journals of runs that were logged offline, or whose host was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcadia.cli.connection import options_of
from arcadia.cli.formats import plural
from arcadia.cli.output import say, show


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
    from arcadia.reporting import syncing
    from arcadia.reporting.layout import describe_conflicts, describe_left_out

    options = options_of(ctx)
    results = [syncing.sync(each, options.url, options.token()) for each in syncing.find_journals(directories)]
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
        deleted, kept = syncing.clean(directories)
        say(f"Deleted {plural(len(deleted), 'uploaded journal')}.")
        for journal in kept:
            say(f"{journal.path} is kept, because the server has rejected parts of it. Delete it if you need none.")
    if any(result.problem and not result.is_running for result in results):
        raise typer.Exit(1)

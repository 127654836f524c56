"""The end of commands that create runs: report them, and optionally wait for them."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from arcadia._sync.client import Client
from arcadia.cli.formats import plural
from arcadia.cli.output import print_json, say, show
from arcadia.cli.selection import Run
from arcadia.cli.waiting import exit_status, interruptible, wait_for_runs

FINISHED = frozenset({"finished"})


def finish_new_runs(client: Client, runs: Sequence[Run], *, wait: bool, quiet: bool, as_json: bool) -> None:
    """Print new runs. With `wait`, print them when they have ended, and exit with 1 unless all are finished."""
    ids = [run["id"] for run in runs]
    if quiet:
        show("\n".join(map(str, ids)))
    elif not as_json:
        for run in runs:
            show(f"Run {run['id']} {run['name']} is {run['state']}: {client.url}/runs/{run['id']}")
    if wait:
        with interruptible(continues(ids)):
            runs = wait_for_runs(client, ids)
    if as_json:
        print_json(list(runs))
    if wait:
        raise typer.Exit(exit_status([run["state"] for run in runs], success=FINISHED))


def continues(ids: Sequence[int]) -> str:
    """Return the message for Ctrl-C while runs are waited for."""
    runs = f"Run {ids[0]} continues" if len(ids) == 1 else f"{plural(len(ids), 'run')} continue"
    return f"{runs}. Watch with: arcadia watch {' '.join(map(str, ids))}"


def report_skipped(skipped: Sequence[str]) -> None:
    """Report failures of an action on several runs, and exit with 1 if there are any."""
    for message in skipped:
        say(f"arcadia: {message}")
    if skipped:
        raise typer.Exit(1)

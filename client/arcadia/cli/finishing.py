"""The end of commands that create runs: report them, and optionally wait for them."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from arcadia._sync.runs import Run
from arcadia.cli.formats import plural
from arcadia.cli.output import print_json, say, show
from arcadia.cli.waiting import exit_status, interruptible, wait_for_runs


def finish_new_runs(runs: Sequence[Run], *, wait: bool, quiet: bool, as_json: bool) -> None:
    """Print new runs. With `wait`, print them when they have ended, and exit with 1 unless all are finished."""
    if quiet:
        show("\n".join(str(run.id) for run in runs))
    elif not as_json:
        for run in runs:
            show(f"Run {run.id} {run.name} is {run.state}: {run.url}")
    if wait:
        with interruptible(continues(runs)):
            wait_for_runs(runs, progress=not as_json)
    if as_json:
        print_json([run.data for run in runs])
    if wait:
        raise typer.Exit(exit_status(runs))


def continues(runs: Sequence[Run]) -> str:
    """Return the message for Ctrl-C while runs are waited for."""
    ids = " ".join(str(run.id) for run in runs)
    subject = f"Run {ids} continues" if len(runs) == 1 else f"{plural(len(runs), 'run')} continue"
    return f"{subject}. Watch with: arcadia watch {ids}"


def report_skipped(skipped: Sequence[str]) -> None:
    """Report failures of an action on several runs, and exit with 1 if there are any."""
    for message in skipped:
        say(f"arcadia: {message}")
    if skipped:
        raise typer.Exit(1)

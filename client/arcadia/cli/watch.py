"""`arcadia watch`: progress, returns and log of runs while they train."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.live import Live

from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.finishing import continues
from arcadia.cli.options import RunReferences
from arcadia.cli.output import console, is_terminal, print_json_line, show
from arcadia.cli.waiting import exit_status, interruptible, refresh
from arcadia.cli.watch_lines import LineReport
from arcadia.cli.watch_screen import draw_screen
from arcadia.cli.watching import EPISODE_RETURN, Snapshot, Watcher


def watch(
    ctx: typer.Context,
    runs: RunReferences,
    metric: Annotated[
        str, typer.Option(help="Metric of the chart.", autocompletion=completion.complete_metric)
    ] = EPISODE_RETURN,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between updates.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a run as one line of JSON after each change.")] = False,
) -> None:
    """Watch runs until they end. Exit with 0 only if all are finished; Ctrl-C does not stop them."""
    client = open_client(ctx)
    watched = client.runs(*runs)
    on_screen = is_terminal() and not as_json
    watcher = Watcher(client, watched, metric, curves=on_screen)
    with interruptible(continues(watched)):
        last = (_watch_screen if on_screen else _watch_json if as_json else _watch_lines)(watcher, interval)
    raise typer.Exit(exit_status(last.runs))


def _watch_screen(watcher: Watcher, interval: float) -> Snapshot:
    screen = console()
    with Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
        for snapshot in refresh(watcher.read, interval):
            live.update(draw_screen(snapshot, watcher.metric, screen.width, screen.height), refresh=True)
            if snapshot.all_ended:
                return snapshot
    raise AssertionError("unreachable")


def _watch_lines(watcher: Watcher, interval: float) -> Snapshot:
    report = LineReport()
    for snapshot in refresh(watcher.read, interval):
        for line in report.new_lines(snapshot):
            show(line)
        if snapshot.all_ended:
            return snapshot
    raise AssertionError("unreachable")


def _watch_json(watcher: Watcher, interval: float) -> Snapshot:
    printed: dict[int, tuple[str, int]] = {}
    for snapshot in refresh(watcher.read, interval):
        for run in snapshot.runs:
            if printed.get(run.id) != (run.state, run.step):
                printed[run.id] = (run.state, run.step)
                print_json_line(run.data)
        if snapshot.all_ended:
            return snapshot
    raise AssertionError("unreachable")

"""`arcadia study watch`: the points of a study while its runs train."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.live import Live

from arcadia._sync.client import Client
from arcadia.cli.connection import open_client
from arcadia.cli.options import StudyId
from arcadia.cli.output import console, is_terminal, print_json_line, say
from arcadia.cli.study_views import draw_study, print_study, summarize
from arcadia.cli.waiting import interruptible, poll

FINISHED, ENDED = "finished", ("finished", "stopped")

Study = dict[str, Any]


def watch(
    ctx: typer.Context,
    study: StudyId,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two updates.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON after each change.")] = False,
) -> None:
    """Watch a study until it ends. Exit with 0 only if it is finished; Ctrl-C does not stop it."""
    client = open_client(ctx)
    if as_json or not is_terminal():
        _, status = watch_until_finished(client, study, as_lines=as_json, interval=interval)
        raise typer.Exit(status)
    with interruptible(_continues(study)):
        raise typer.Exit(_watch_screen(client, study, interval))


def watch_until_finished(
    client: Client, study_id: int, *, as_lines: bool = False, quiet: bool = False, interval: float = 2.0
) -> tuple[Study, int]:
    """Report each change until the study ends. Return it with the exit status."""
    last = ""
    with interruptible(_continues(study_id)):
        for study in poll(lambda: client.transport.get(f"/studies/{study_id}"), interval):
            if (line := summarize(study)) != last:
                print_json_line(study) if as_lines else say(line)
                last = line
            if study["state"] in ENDED:
                if not as_lines and not quiet:
                    print_study(study)
                return study, int(study["state"] != FINISHED)
    raise AssertionError("unreachable")


def _watch_screen(client: Client, study_id: int, interval: float) -> int:
    screen = console()
    with Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
        for study in poll(lambda: client.transport.get(f"/studies/{study_id}"), interval):
            live.update(draw_study(study, screen.height), refresh=True)
            if study["state"] in ENDED:
                return int(study["state"] != FINISHED)
    raise AssertionError("unreachable")


def _continues(study_id: int) -> str:
    return f"Study {study_id} continues. Watch with: arcadia study watch {study_id}"

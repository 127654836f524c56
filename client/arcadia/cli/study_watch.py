"""`arcadia study watch`: the points of a study while its runs train."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.live import Live

from arcadia._sync.studies import Study
from arcadia.cli.connection import open_client
from arcadia.cli.options import StudyId
from arcadia.cli.output import console, is_terminal, print_json_line, say
from arcadia.cli.study_views import draw_study, print_study, summarize
from arcadia.cli.waiting import interruptible, refresh

FINISHED = "finished"


def watch(
    ctx: typer.Context,
    study: StudyId,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between updates.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON after each change.")] = False,
) -> None:
    """Watch a study until it ends. Exit with 0 only if it is finished; Ctrl-C does not stop it."""
    found = open_client(ctx).study(study)
    with interruptible(continues(found)):
        if is_terminal() and not as_json:
            _watch_screen(found, interval)
        else:
            _watch_lines(found, interval, as_json=as_json)
    raise typer.Exit(int(found.state != FINISHED))


def continues(study: Study) -> str:
    """Return the message for Ctrl-C while a study is waited for."""
    return f"Study {study.id} continues. Watch with: arcadia study watch {study.id}"


def _watch_screen(study: Study, interval: float) -> None:
    screen = console()
    with Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
        for _ in refresh(study.refresh, interval):
            live.update(draw_study(study, screen.height), refresh=True)
            if study.has_ended:
                return


def _watch_lines(study: Study, interval: float, *, as_json: bool) -> None:
    """Report each change: as JSON, or on stderr before the final table."""
    last = ""
    for _ in refresh(study.refresh, interval):
        if (line := summarize(study)) != last:
            print_json_line(study.data) if as_json else say(line)
            last = line
        if study.has_ended:
            break
    if not as_json:
        print_study(study)

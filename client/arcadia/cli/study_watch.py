"""`arcadia study watch`, and the tables of studies that other commands print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from arcadia._sync.studies import Study
from arcadia.cli.options import StudyId, open_client
from arcadia.cli.output import (
    MISSING,
    clean,
    console,
    counts,
    interruptible,
    interval,
    is_terminal,
    number,
    print_json_line,
    print_table,
    refresh,
    say,
    show,
    state,
    table,
)

COLUMNS = ["POINT>", "VALUES*", "MEAN>", "95 %", "N>"]


def format_cost(preview: dict[str, Any]) -> str:
    """Return the size and the cost of a study as one line."""
    least, most = preview.get("min_runs", preview["runs"]), preview["runs"]
    runs = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    workers = f"{preview['concurrent_runs']} worker{'s' if preview['concurrent_runs'] > 1 else ''}"
    if preview["seconds"] is None:
        unmeasured = " or ".join(preview["unmeasured"])
        time = f"; the duration is unknown, since no run of {unmeasured} has trained here"
    else:
        time = f", about {preview['seconds'] / 3_600:,.1f} h on {workers} at the rate measured here"
    return f"{preview['points']:,} points, {runs} runs, {preview['steps']:,} steps{time}"


def summarize(study: Study) -> str:
    """Return a study as one line."""
    return f"Study {study.id} {study.name} is {study.state}: {counts(study.run_counts) or 'no runs'}"


def print_studies(studies: Sequence[Study]) -> None:
    """Print studies as a table."""
    rows: list[list[Text | str]] = [
        [
            str(study.id),
            study.name,
            state(study.state),
            f"{study.data['points']:,}",
            counts(study.run_counts),
            number(study.best_mean),
        ]
        for study in studies
    ]
    print_table(["ID>", "NAME*", "STATE", "POINTS>", "RUNS", "BEST>"], rows, empty="There are no studies.")


def print_study(study: Study) -> None:
    """Print a study with its points, the best first."""
    show(summarize(study))
    if study.state_reason:
        show(study.state_reason)
    if study.verdict:
        show(study.verdict)
    console().print(table(COLUMNS, point_rows(study)))


def draw_study(study: Study, height: int) -> RenderableType:
    """Return a study with as many of its best points as fit."""
    heading = Text.assemble((f"Study {study.id} ", "bold"), clean(study.name), "  ", state(study.state))
    rows = point_rows(study)
    shown = rows[: max(1, height - 5)]
    more = [Text(f"and {len(rows) - len(shown)} more points", style="dim")] if len(shown) < len(rows) else []
    return Group(heading, Text(counts(study.run_counts)), table(COLUMNS, shown), *more)


def point_rows(study: Study) -> list[list[str]]:
    """Return the rows of the points, the best mean first."""
    points = sorted(study.data["table"], key=lambda point: (point["mean"] is None, -(point["mean"] or 0)))
    return [
        [
            str(point["number"]),
            point["label"],
            number(point["mean"]) if point["mean"] is not None else MISSING,
            interval(point["low"], point["high"]),
            str(point["n"]),
        ]
        for point in points
    ]


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

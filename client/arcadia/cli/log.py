"""`arcadia log`: print and follow the log of a run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia.cli.connection import open_client
from arcadia.cli.formats import clean, parse_time
from arcadia.cli.options import RunReference
from arcadia.cli.output import print_json_line, show
from arcadia.cli.selection import select_run
from arcadia.cli.waiting import ENDED, interruptible, poll

PAGE_SIZE = 5_000


def log(
    ctx: typer.Context,
    run: RunReference,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print new lines until the run ends.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=PAGE_SIZE, help="Number of last lines.")] = 100,
    search: Annotated[str, typer.Option(help="Only lines with this text.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as one line of JSON.")] = False,
) -> None:
    """Print the last lines of a run's log, or follow it."""
    client = open_client(ctx)
    run_id = select_run(client, run)["id"]
    path = f"/runs/{run_id}/log"
    page = client.transport.get(path, limit=lines, search=search or None)
    _print(page["items"], as_json)
    if follow:
        with interruptible(f"Run {run_id} continues."):
            _follow(client, run_id, page["next_after"] or 0, search, as_json)


def format_line(line: dict[str, Any]) -> str:
    """Return a line of the log with its local time. The level is shown unless it is info."""
    level = "" if line["level"] == "info" else f"{line['level'].upper()}: "
    return f"{parse_time(line['time']).astimezone():%H:%M:%S} {level}{clean(line['message'])}"


def _follow(client: Client, run_id: int, after: int, search: str, as_json: bool) -> None:
    def read() -> tuple[str, dict[str, Any]]:
        # The state is read first, so that the lines of an ended run are complete.
        state = client.transport.get(f"/runs/{run_id}")["state"]
        params = {"after": after, "limit": PAGE_SIZE, "search": search or None}
        return state, client.transport.get(f"/runs/{run_id}/log", **params)

    for state, page in poll(read):
        _print(page["items"], as_json)
        after = page["next_after"] or after
        if state in ENDED and not page["items"]:
            return


def _print(lines: list[dict[str, Any]], as_json: bool) -> None:
    for line in lines:
        if as_json:
            print_json_line(line)
        else:
            show(format_line(line))

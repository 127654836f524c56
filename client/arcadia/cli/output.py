"""Output of the commands: JSON, tables and messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from arcadia.cli.formats import clean

STATE_STYLES = {
    "queued": "cyan",
    "starting": "cyan",
    "running": "green",
    "done": "bold green",
    "finished": "bold green",
    "paused": "yellow",
    "failed": "bold red",
    "stopped": "magenta",
    "cancelled": "magenta",
    "gone": "bold red",
    "busy": "green",
    "waiting": "cyan",
    "delivered": "bold green",
    "warning": "yellow",
    "error": "bold red",
}
MIN_SHORTENED_WIDTH = 8


def console(*, stderr: bool = False) -> Console:
    """Return a console. Rich leaves colors out without a terminal and with NO_COLOR."""
    return Console(stderr=stderr, highlight=False, markup=False, soft_wrap=False)


def is_terminal() -> bool:
    """Return True if standard output is a terminal."""
    return sys.stdout.isatty()


def print_json(value: Any) -> None:
    """Print a value of the API as indented JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_json_line(value: Any) -> None:
    """Print a value on one line, for streams."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def say(message: str) -> None:
    """Print a progress message on stderr, so that stdout has only results."""
    print(clean_lines(message), file=sys.stderr, flush=True)


def show(message: str) -> None:
    """Print a result."""
    print(clean_lines(message), flush=True)


def clean_lines(text: str) -> str:
    """Return a text of several lines without other control characters."""
    return "\n".join(clean(line) for line in text.split("\n"))


def state(name: str) -> Text:
    """Return a state in its color."""
    return Text(clean(name), style=STATE_STYLES.get(name, ""))


def table(columns: Sequence[str], rows: Sequence[Sequence[Text | str]]) -> Table:
    """Return a table that fits the console. A title that ends with > aligns right, and one with * is shortened."""
    cells = [[cell if isinstance(cell, Text) else Text(clean(cell)) for cell in row] for row in rows]
    titles = [title.rstrip(">*") for title in columns]
    widths = [max(len(title), *(row[i].cell_len for row in cells)) for i, title in enumerate(titles)]
    used = sum(widths) + 2 * (len(widths) - 1)
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column, title, width in zip(columns, titles, widths, strict=True):
        if column.endswith("*"):
            width = max(MIN_SHORTENED_WIDTH, width - max(0, used - console().width))
        justify: JustifyMethod = "right" if column.endswith(">") else "left"
        found.add_column(title, justify=justify, no_wrap=True, overflow="ellipsis", max_width=width)
    for row in cells:
        found.add_row(*row)
    return found


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Text | str]], *, empty: str) -> None:
    """Print a table, or a sentence if it has no rows."""
    if rows:
        console().print(table(columns, rows))
    else:
        say(empty)


def print_fields(fields: Iterable[tuple[str, Text | str]]) -> None:
    """Print names with values, one per line. Empty values are left out."""
    found = Table(box=None, pad_edge=False, show_header=False)
    found.add_column(style="bold", no_wrap=True)
    found.add_column(overflow="fold")
    for name, value in fields:
        if value:
            found.add_row(name, value if isinstance(value, Text) else Text(clean_lines(value)))
    console().print(found)


def confirm(question: str, yes: bool) -> None:
    """Ask before an action that cannot be undone. Without a terminal, --yes is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        say(f"{question} Add --yes to confirm.")
        raise typer.Exit(2)
    typer.confirm(question, abort=True, err=True)

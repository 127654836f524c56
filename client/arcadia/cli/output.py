"""Output of the commands: formats, JSON, tables, messages, and waiting."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, TypeVar

import typer
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from arcadia._sync.jobs import Job
from arcadia._sync.runs import Run
from arcadia.errors import JobFailedError, ServerUnreachableError

MISSING = "–"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SEED = re.compile(r" seed \d+$")
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def clean(text: object) -> str:
    """Return a text without control characters, which could change the terminal."""
    return _CONTROL.sub("�", str(text))


def number(value: Any) -> str:
    """Return a number of the API with four significant digits. NaN and the infinities are strings there."""
    if value is None:
        return MISSING
    number = float(value)
    return f"{number:,.0f}" if abs(number) >= 1_000 and number == number else f"{number:.4g}"


def count(value: int | None) -> str:
    """Return a whole number with thousands separators."""
    return MISSING if value is None else f"{value:,}"


def steps(done: int, total: int | None) -> str:
    """Return the number of finished steps, with the total if it is known."""
    return count(done) if total is None else f"{count(done)} of {count(total)}"


def duration(seconds: float | None) -> str:
    """Return a duration in its two largest units."""
    if seconds is None:
        return MISSING
    left = int(seconds)
    parts: list[str] = []
    for unit, length in _UNITS:
        if left >= length and len(parts) < 2:
            parts.append(f"{left // length} {unit}")
        left %= length
    return " ".join(parts) or "0 s"


def age(moment: str | None) -> str:
    """Return the time since a time of the API, in its largest unit."""
    if moment is None:
        return MISSING
    seconds = (datetime.now(timezone.utc) - parse_time(moment)).total_seconds()
    return " ".join(duration(max(0.0, seconds)).split(" ")[:2])


def local_time(moment: str | None) -> str:
    """Return a time of the API in the time zone of this machine."""
    return MISSING if moment is None else f"{parse_time(moment).astimezone():%Y-%m-%d %H:%M:%S}"


def parse_time(moment: str) -> datetime:
    """Parse a time of the API. Python 3.10 does not know the suffix Z."""
    parsed = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)


def percent(part: float, whole: float | None) -> str:
    """Return a share as a percentage, rounded down so that 100 % means complete. A last update may exceed the goal."""
    if whole is None:
        return MISSING
    return f"{min(100, int(100 * part / whole)) if whole else 0} %"


def plural(amount: int, noun: str) -> str:
    """Return an amount with its noun."""
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def interval(low: Any, high: Any) -> str:
    """Return an interval, or nothing if there is none."""
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def name_with_seed(name: str, seed: int) -> str:
    """Return a name with a seed at its end. It replaces the seed of the given name."""
    return f"{_SEED.sub('', name)} seed {seed}"


def counts(by_state: Mapping[str, int]) -> str:
    """Return the states that occur, with their numbers."""
    return ", ".join(f"{amount:,} {state}" for state, amount in by_state.items() if amount)


def joined(texts: Iterable[object]) -> str:
    """Return texts separated by commas."""
    return ", ".join(clean(text) for text in texts) or MISSING


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
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column, title, width in zip(columns, titles, widths, strict=True):
        if column.endswith("*"):
            width = max(MIN_SHORTENED_WIDTH, width - max(0, used - console().width))
        justify: JustifyMethod = "right" if column.endswith(">") else "left"
        grid.add_column(title, justify=justify, no_wrap=True, overflow="ellipsis", max_width=width)
    for row in cells:
        grid.add_row(*row)
    return grid


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Text | str]], *, empty: str) -> None:
    """Print a table, or a sentence if it has no rows."""
    if rows:
        console().print(table(columns, rows))
    else:
        say(empty)


def print_fields(fields: Iterable[tuple[str, Text | str]]) -> None:
    """Print names with values, one per line. Empty values are left out."""
    grid = Table(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in fields:
        if value:
            grid.add_row(name, value if isinstance(value, Text) else Text(clean_lines(value)))
    console().print(grid)


def confirm(question: str, yes: bool) -> None:
    """Ask before an action that cannot be undone. Without a terminal, --yes is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        say(f"{question} Add --yes to confirm.")
        raise typer.Exit(2)
    typer.confirm(question, abort=True, err=True)


INTERRUPTED = 130
# State of a job that has succeeded.
DONE = "done"

T = TypeVar("T")


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """Exit with status 130 on Ctrl-C, after a message about what continues."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\n{message}")
        raise typer.Exit(INTERRUPTED) from None


def refresh(read: Callable[[], T], seconds: float) -> Iterator[T]:
    """Yield the screen's content at an interval. If the server is unreachable, print one message and retry."""
    reachable = True
    while True:
        try:
            value = read()
        except ServerUnreachableError as error:
            if reachable:
                say(f"{error} Trying again. Press Ctrl-C to stop.")
            reachable = False
        else:
            if not reachable:
                say("The server answers again.")
            reachable = True
            yield value
        time.sleep(seconds)


def wait_for_runs(runs: Sequence[Run], *, progress: bool) -> None:
    """Wait until each run has ended or is paused, and report its state on stderr."""
    for run in runs:
        run.wait(progress=progress)
        say(describe_change(run))


def wait_for_job(job: Job, *, progress: bool) -> None:
    """Wait until an evaluation or a recording has ended, and report a failure on stderr."""
    try:
        job.wait(progress=progress)
    except JobFailedError as error:
        say(f"arcadia: {error}")


def describe_change(run: Run) -> str:
    """Return a line about a run's new state."""
    reason = f": {run.state_reason}" if run.state_reason else ""
    return f"Run {run.id} {run.name} is {run.state}{reason}"


def exit_status(runs: Sequence[Run]) -> int:
    """Return 0 if every run is finished, otherwise 1."""
    return 0 if all(run.state == "finished" for run in runs) else 1

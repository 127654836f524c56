"""`arcadia watch` and `log`: progress, returns and log of runs while they train."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arcadia._sync.client import Client
from arcadia._sync.runs import Run
from arcadia.cli import options
from arcadia.cli.control import continues
from arcadia.cli.metrics import draw_chart, draw_sparkline
from arcadia.cli.options import RunReference, RunReferences, open_client
from arcadia.cli.output import (
    clean,
    console,
    count,
    describe_change,
    duration,
    exit_status,
    interruptible,
    is_terminal,
    number,
    percent,
    print_json_line,
    refresh,
    show,
    state,
    steps,
)
from arcadia.errors import NotFoundError
from arcadia.names import joined_ids
from arcadia.records.run import LogLine

# Maximum number of lines that the API returns at once.
MAX_LINES = 5_000


def log(
    ctx: typer.Context,
    run: RunReference,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print new lines until the run has ended or is paused.")
    ] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=MAX_LINES, help="Number of last lines.")] = 100,
    search: Annotated[str, typer.Option(help="Only lines that contain this text.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as one line of JSON.")] = False,
) -> None:
    """Print the last lines of a run's log, or follow it."""
    chosen = open_client(ctx).run(run)
    with interruptible(continues([chosen])):
        for line in chosen.log(follow=follow, search=search, last=lines):
            if as_json:
                print_json_line(line.data)
            else:
                show(format_line(line))


def format_line(line: LogLine) -> str:
    """Return a line of the log with its local time. The level is shown unless it is info."""
    level = "" if line.level == "info" else f"{line.level.upper()}: "
    return f"{line.time.astimezone():%H:%M:%S} {level}{clean(line.message)}"


EPISODE_RETURN = "episode/return"
CURVE_BUCKETS = 200
# Lines of a log to begin with, and lines to keep for the screen.
FIRST_LINES, KEPT_LINES = 10, 50


@dataclass(frozen=True)
class Curve:
    """Points of a metric."""

    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Snapshot:
    """Watched runs at one moment. `new_log` has the lines since the last snapshot, `log` the newest ones."""

    runs: list[Run]
    curves: dict[int, Curve]
    log: dict[int, list[LogLine]]
    new_log: dict[int, list[LogLine]]

    @property
    def all_ended(self) -> bool:
        """Return True if every run is finished, failed or stopped."""
        return all(run.has_ended for run in self.runs)


class Watcher:
    """Reader of watched runs."""

    def __init__(self, client: Client, runs: Sequence[Run], metric: str, *, curves: bool) -> None:
        self.metric = metric
        self._client, self._ids, self._reads_curves = client, [run.id for run in runs], curves
        self._last_line: dict[int, int] = {}
        self._log: dict[int, deque[LogLine]] = {run_id: deque(maxlen=KEPT_LINES) for run_id in self._ids}

    def read(self) -> Snapshot:
        """Return the current state. The log is read after it, so that the last snapshot has the last lines."""
        runs = self._read_runs()
        curves = {run.id: self._read_curve(run) for run in runs} if self._reads_curves else {}
        new = {run.id: self._read_log(run) for run in runs}
        for run_id, lines in new.items():
            self._log[run_id].extend(lines)
        return Snapshot(runs, curves, {run_id: list(lines) for run_id, lines in self._log.items()}, new)

    def _read_runs(self) -> list[Run]:
        """Return the runs with few requests. Raise NotFoundError if one was deleted."""
        if len(self._ids) == 1:
            return [self._client.run(self._ids[0])]
        runs_by_id = {run.id: run for run in self._client.runs(joined_ids(self._ids))}
        return [runs_by_id.get(run_id) or self._client.run(run_id) for run_id in self._ids]

    def _read_curve(self, run: Run) -> Curve:
        try:
            series = run.metrics(self.metric, buckets=CURVE_BUCKETS).to_lists()
        except NotFoundError:  # a run may end before it reports the metric
            return Curve()
        return Curve(*series.get(self.metric, ([], [])))

    def _read_log(self, run: Run) -> list[LogLine]:
        after = self._last_line.get(run.id)
        lines = list(run.log(last=FIRST_LINES) if after is None else run.log(after=after))
        self._last_line[run.id] = lines[-1].id if lines else after or 0
        return lines


# Progress is reported this many times per run.
REPORTS = 20


class LineReport:
    """Reporter of what is new: states, progress and log lines."""

    def __init__(self) -> None:
        self._states: dict[int, str] = {}
        self._reported: dict[int, int] = {}

    def new_lines(self, snapshot: Snapshot) -> Iterator[str]:
        """Yield the lines to print for a snapshot."""
        prefixed = len(snapshot.runs) > 1
        for run in snapshot.runs:
            run_id = run.id
            for line in snapshot.new_log[run_id]:
                yield f"{f'{run_id}: ' if prefixed else ''}{format_line(line)}"
            part = REPORTS * run.step // run.total_steps if run.total_steps else 0
            if part > self._reported.get(run_id, 0):
                self._reported[run_id] = part
                yield describe_progress(run)
            if self._states.get(run_id) != run.state:
                self._states[run_id] = run.state
                yield describe_change(run)


def describe_progress(run: Run) -> str:
    """Return progress, return and speed of a run as one line."""
    speed = f", {run.steps_per_second:,.0f} steps/s" if run.steps_per_second else ""
    left = f", {duration(run.seconds_left)} left" if run.seconds_left else ""
    done = percent(run.step, run.total_steps)
    return f"Run {run.id}: {done}, step {count(run.step)}, return {number(run.last_return)}{speed}{left}"


LOG_LINES = 6
MIN_CHART_LINES, MAX_CHART_LINES = 4, 14
# Lines of the screen that neither the chart nor the log takes.
OTHER_LINES = 7
LEVEL_STYLES = {"warning": "yellow", "error": "red"}


def draw_screen(snapshot: Snapshot, metric: str, width: int, height: int) -> RenderableType:
    """Return the screen of a terminal of this size."""
    if len(snapshot.runs) > 1:
        return _draw_table(snapshot, metric, width)
    run = snapshot.runs[0]
    chart_height = max(MIN_CHART_LINES, min(MAX_CHART_LINES, height - LOG_LINES - OTHER_LINES))
    return Group(
        _heading(run),
        _progress(run, width),
        Text(""),
        _chart(snapshot.curves[run.id], metric, width, chart_height),
        Text(""),
        *_log(snapshot.log[run.id][-LOG_LINES:], width),
    )


def _heading(run: Run) -> Text:
    heading = Text.assemble((f"Run {run.id} ", "bold"), clean(run.name), "  ", state(run.state))
    if run.state_reason:
        heading.append(f"  {clean(run.state_reason)}", style="dim")
    return heading


def _progress(run: Run, width: int) -> RenderableType:
    returns = f"return {number(run.last_return)}  best {number(run.best_return)}"
    speed = f"{run.steps_per_second:,.0f} steps/s" if run.steps_per_second else ""
    left = f"{duration(run.seconds_left)} left" if run.seconds_left else ""
    numbers = f"{steps(run.step, run.total_steps)} steps"
    row = Table.grid(padding=(0, 1))
    row.add_row(_bar(run, width // 3), percent(run.step, run.total_steps), numbers)
    return Group(row, Text("  ".join(text for text in (returns, speed, left) if text)))


def _bar(run: Run, width: int) -> ProgressBar:
    # A bar without a total would move. Rich draws an empty one instead.
    total, done = (run.total_steps, run.step) if run.total_steps else (1, 0)
    return ProgressBar(total=total, completed=done, width=max(8, width))


def _chart(curve: Curve, metric: str, width: int, height: int) -> RenderableType:
    lines = draw_chart(curve.xs, curve.ys, width, height)
    if not lines:
        return Text(f"{metric} has no values yet.", style="dim")
    return Text("\n".join([metric, *lines]), no_wrap=True)


def _log(lines: list[LogLine], width: int) -> list[Text]:
    return [Text(format_line(line)[:width], style=LEVEL_STYLES.get(line.level, "dim"), no_wrap=True) for line in lines]


def _draw_table(snapshot: Snapshot, metric: str, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("ID", "NAME", "STATE", "DONE", "SPEED", "LEFT", "RETURN", metric):
        table.add_column(title, no_wrap=True, overflow="ellipsis")
    for run in snapshot.runs:
        table.add_row(
            str(run.id),
            Text(clean(run.name)),
            state(run.state),
            percent(run.step, run.total_steps),
            f"{run.steps_per_second:,.0f}/s" if run.steps_per_second else "",
            duration(run.seconds_left) if run.seconds_left else "",
            number(run.last_return),
            draw_sparkline(snapshot.curves[run.id].ys, max(8, width // 6)),
        )
    return table


def watch(
    ctx: typer.Context,
    runs: RunReferences,
    metric: Annotated[
        str, typer.Option(help="Metric of the chart.", autocompletion=options.complete_metric)
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

"""Watched runs on a terminal: one with a chart and its log, several as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arcadia._sync.runs import Run
from arcadia.cli.chart import draw_chart, draw_sparkline
from arcadia.cli.formats import clean, duration, number, percent, steps
from arcadia.cli.log import format_line
from arcadia.cli.output import state
from arcadia.cli.watching import Curve, Snapshot
from arcadia.records.log_line import LogLine

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
    found = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("ID", "NAME", "STATE", "DONE", "SPEED", "LEFT", "RETURN", metric):
        found.add_column(title, no_wrap=True, overflow="ellipsis")
    for run in snapshot.runs:
        found.add_row(
            str(run.id),
            Text(clean(run.name)),
            state(run.state),
            percent(run.step, run.total_steps),
            f"{run.steps_per_second:,.0f}/s" if run.steps_per_second else "",
            duration(run.seconds_left) if run.seconds_left else "",
            number(run.last_return),
            draw_sparkline(snapshot.curves[run.id].ys, max(8, width // 6)),
        )
    return found

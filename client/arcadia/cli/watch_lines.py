"""Watched runs as lines, for output that is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from arcadia._sync.runs import Run
from arcadia.cli.formats import count, duration, number, percent
from arcadia.cli.log import format_line
from arcadia.cli.waiting import describe_change
from arcadia.cli.watching import Snapshot

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

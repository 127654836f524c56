"""Waiting for the server's work, which continues if the command is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import typer

from arcadia._sync.jobs import Job
from arcadia._sync.runs import Run
from arcadia.cli.output import say
from arcadia.errors import JobFailedError, ServerUnreachableError

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
            found = read()
        except ServerUnreachableError as error:
            if reachable:
                say(f"{error} Trying again. Press Ctrl-C to stop.")
            reachable = False
        else:
            if not reachable:
                say("The server answers again.")
            reachable = True
            yield found
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

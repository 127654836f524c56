"""Waiting for the server's work, which continues if the command is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import typer

from arcadia._sync.client import Client
from arcadia.cli.output import say
from arcadia.cli.selection import Run
from arcadia.errors import ServerUnreachableError

POLL_SECONDS = 1.0
INTERRUPTED = 130
ENDED = frozenset({"finished", "failed", "stopped"})
JOB_ENDED = frozenset({"done", "failed", "cancelled"})

T = TypeVar("T")


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """Exit with status 130 on Ctrl-C, after a message that says what continues."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\n{message}")
        raise typer.Exit(INTERRUPTED) from None


def poll(read: Callable[[], T], seconds: float = POLL_SECONDS) -> Iterator[T]:
    """Yield what the server has now, again and again. While it is unreachable, say so once and try again."""
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


def read_runs(client: Client, ids: Sequence[int]) -> list[Run]:
    """Return several runs with one request per hundred."""
    found: dict[int, Run] = {}
    for start in range(0, len(ids), 100):
        page = client.transport.get("/runs", id=list(ids[start : start + 100]), limit=100)
        found |= {run["id"]: run for run in page["items"]}
    missing = [run_id for run_id in ids if run_id not in found]
    # Archived runs are in another list, and purged ones raise NotFoundError.
    found |= {run_id: client.transport.get(f"/runs/{run_id}") for run_id in missing}
    return [found[run_id] for run_id in ids]


def wait_for_runs(client: Client, ids: Sequence[int], *, until: frozenset[str] = ENDED) -> list[Run]:
    """Wait until all runs are in one of the states, and report each change on stderr."""
    last: dict[int, str] = {}
    for runs in poll(lambda: read_runs(client, ids)):
        for run in runs:
            if last.get(run["id"]) != run["state"]:
                say(describe_change(run))
                last[run["id"]] = run["state"]
        if all(run["state"] in until for run in runs):
            return runs
    raise AssertionError("unreachable")


def describe_change(run: Run) -> str:
    """Return a line about a run's new state."""
    reason = f": {run['state_reason']}" if run["state_reason"] else ""
    return f"Run {run['id']} {run['name']} is {run['state']}{reason}"


def wait_for_job(read: Callable[[], dict[str, Any]], noun: str) -> dict[str, Any]:
    """Wait until an evaluation or a recording has ended, and report each change on stderr."""
    last = None
    for job in poll(read):
        status = (job["state"], job["reason"], job.get("episodes_done"))
        if status != last:
            done = f", {job['episodes_done']} of {job['episodes_total']} episodes" if "episodes_total" in job else ""
            say(f"{noun} {job['id']} is {job['state']}{done}{'. ' + job['reason'] if job['reason'] else ''}")
            last = status
        if job["state"] in JOB_ENDED:
            return job
    raise AssertionError("unreachable")


def exit_status(states: Sequence[str], *, success: frozenset[str]) -> int:
    """Return 0 if every state is a success, otherwise 1."""
    return 0 if all(state in success for state in states) else 1

"""`arcadia stop`, `pause`, `resume`, `archive` and `delete`: actions on one or several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia.cli.connection import open_client
from arcadia.cli.finishing import continues, report_skipped
from arcadia.cli.formats import joined, plural
from arcadia.cli.options import Json, RunReferences, Yes
from arcadia.cli.output import confirm, print_json, show
from arcadia.cli.selection import Run, select_runs
from arcadia.cli.waiting import ENDED, describe_change, interruptible, wait_for_runs
from arcadia.errors import ApiError

UntilDone = Annotated[bool, typer.Option("--wait", help="Wait until the runs have saved their state.")]


def stop(
    ctx: typer.Context, runs: RunReferences, wait: UntilDone = False, yes: Yes = False, as_json: Json = False
) -> None:
    """Stop runs permanently. They save a checkpoint, from which a fork can continue."""
    client = open_client(ctx)
    chosen = select_runs(client, runs)
    confirm(f"Stop {_named(chosen)} permanently?", yes)
    _act(client, chosen, "stop", wait_for=ENDED if wait else None, as_json=as_json)


def pause(ctx: typer.Context, runs: RunReferences, wait: UntilDone = False, as_json: Json = False) -> None:
    """Pause runs: they save a checkpoint and free their workers."""
    client = open_client(ctx)
    _act(client, select_runs(client, runs), "pause", wait_for=ENDED | {"paused"} if wait else None, as_json=as_json)


def resume(ctx: typer.Context, runs: RunReferences, as_json: Json = False) -> None:
    """Queue paused runs again. They continue from their last checkpoints."""
    client = open_client(ctx)
    _act(client, select_runs(client, runs), "resume", wait_for=None, as_json=as_json)


def archive(
    ctx: typer.Context,
    runs: RunReferences,
    undo: Annotated[bool, typer.Option("--undo", help="Show archived runs in the lists again.")] = False,
    as_json: Json = False,
) -> None:
    """Hide runs from the lists, or show them again."""
    client = open_client(ctx)
    _act(client, select_runs(client, runs), "restore" if undo else "archive", wait_for=None, as_json=as_json)


def delete(ctx: typer.Context, runs: RunReferences, yes: Yes = False, as_json: Json = False) -> None:
    """Permanently delete runs with their files."""
    client = open_client(ctx)
    chosen = select_runs(client, runs)
    confirm(f"Permanently delete {_named(chosen)} with all files?", yes)
    result = client.transport.post("/runs/bulk", {"action": "purge", "ids": [run["id"] for run in chosen]})
    if as_json:
        print_json(result)
    elif result["done"]:
        show(f"Deleted {joined(f'run {run_id}' for run_id in result['done'])}.")
    report_skipped([f"Run {each['id']}: {each['reason']}" for each in result["skipped"]])


def _act(client: Client, runs: Sequence[Run], action: str, *, wait_for: frozenset[str] | None, as_json: bool) -> None:
    """Apply an action to each run. Runs that do not allow it are reported at the end."""
    changed: list[dict[str, Any]] = []
    skipped: list[str] = []
    for run in runs:
        with _collect_error(run, skipped):
            changed.append(client.transport.post(f"/runs/{run['id']}/{action}"))
    if wait_for and changed:
        ids = [run["id"] for run in changed]
        with interruptible(continues(ids)):
            changed = wait_for_runs(client, ids, until=wait_for)
    if as_json:
        print_json(changed)
    else:
        for run in changed:
            show(_outcome(run))
    report_skipped(skipped)


@contextmanager
def _collect_error(run: Run, errors: list[str]) -> Iterator[None]:
    """Collect the error of one run, so that the others are still changed."""
    try:
        yield
    except ApiError as error:
        errors.append(f"Run {run['id']}: {error}")


def _outcome(run: Run) -> str:
    if run["archived_at"]:
        return f"Run {run['id']} {run['name']} is archived"
    if run["desired"] != "run" and run["state"] in ("starting", "running"):
        return f"Run {run['id']} {run['name']} will {run['desired']} after it has saved a checkpoint"
    return describe_change(run)


def _named(runs: Sequence[Run]) -> str:
    if len(runs) > 5:
        return f"{plural(len(runs), 'run')} ({runs[0]['id']} to {runs[-1]['id']})"
    return joined(f"run {run['id']} {run['name']}" for run in runs)

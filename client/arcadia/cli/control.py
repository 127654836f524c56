"""`arcadia stop`, `pause`, `resume`, `archive` and `delete`: actions on one or several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from arcadia._sync.runs import Run
from arcadia.cli.connection import open_client
from arcadia.cli.finishing import continues, report_skipped
from arcadia.cli.formats import joined, plural
from arcadia.cli.options import Json, RunReferences, Yes
from arcadia.cli.output import confirm, print_json, show
from arcadia.cli.waiting import describe_change, interruptible, wait_for_runs
from arcadia.errors import ApiError

UntilDone = Annotated[bool, typer.Option("--wait", help="Wait until the runs have saved their state.")]


def stop(
    ctx: typer.Context, runs: RunReferences, wait: UntilDone = False, yes: Yes = False, as_json: Json = False
) -> None:
    """Stop runs permanently. They save a checkpoint, from which a fork can continue."""
    chosen = open_client(ctx).runs(*runs)
    confirm(f"Stop {_named(chosen)} permanently?", yes)
    _act(chosen, Run.stop, wait=wait, as_json=as_json)


def pause(ctx: typer.Context, runs: RunReferences, wait: UntilDone = False, as_json: Json = False) -> None:
    """Pause runs: they save a checkpoint and free their workers."""
    _act(open_client(ctx).runs(*runs), Run.pause, wait=wait, as_json=as_json)


def resume(ctx: typer.Context, runs: RunReferences, as_json: Json = False) -> None:
    """Queue paused runs again. They continue from their last checkpoints."""
    _act(open_client(ctx).runs(*runs), Run.resume, as_json=as_json)


def archive(
    ctx: typer.Context,
    runs: RunReferences,
    undo: Annotated[bool, typer.Option("--undo", help="Show archived runs in the lists again.")] = False,
    as_json: Json = False,
) -> None:
    """Hide runs from the lists, or show them again."""
    _act(open_client(ctx).runs(*runs), Run.restore if undo else Run.archive, as_json=as_json)


def delete(ctx: typer.Context, runs: RunReferences, yes: Yes = False, as_json: Json = False) -> None:
    """Permanently delete runs with their files."""
    chosen = open_client(ctx).runs(*runs)
    confirm(f"Permanently delete {_named(chosen)} with all files?", yes)
    deleted, skipped = _apply(chosen, Run.purge)
    if as_json:
        print_json([run.data for run in deleted])
    elif deleted:
        show(f"Deleted {joined(f'run {run.id}' for run in deleted)}.")
    report_skipped(skipped)


def _act(runs: Sequence[Run], action: Callable[[Run], object], *, wait: bool = False, as_json: bool) -> None:
    """Apply an action to each run, optionally wait for its effect, and print the runs."""
    changed, skipped = _apply(runs, action)
    if wait:
        with interruptible(continues(changed)):
            wait_for_runs(changed, progress=not as_json)
    if as_json:
        print_json([run.data for run in changed])
    else:
        for run in changed:
            show(_outcome(run))
    report_skipped(skipped)


def _apply(runs: Sequence[Run], action: Callable[[Run], object]) -> tuple[list[Run], list[str]]:
    """Return the runs that allowed an action, and why others did not."""
    changed: list[Run] = []
    skipped: list[str] = []
    for run in runs:
        if refusal := _refusal(run, action):
            skipped.append(refusal if refusal.startswith(f"Run {run.id} ") else f"Run {run.id}: {refusal}")
        else:
            changed.append(run)
    return changed, skipped


def _refusal(run: Run, action: Callable[[Run], object]) -> str:
    """Apply an action to a run. Return why the server rejected it, or nothing."""
    try:
        action(run)
    except ApiError as error:
        return str(error)
    return ""


def _outcome(run: Run) -> str:
    if run.is_archived:
        return f"Run {run.id} {run.name} is archived"
    if run.data["desired"] != "run" and run.is_active:
        return f"Run {run.id} {run.name} will {run.data['desired']} after it has saved a checkpoint"
    return describe_change(run)


def _named(runs: Sequence[Run]) -> str:
    if len(runs) > 5:
        return f"{plural(len(runs), 'run')} ({runs[0].id} to {runs[-1].id})"
    return joined(f"run {run.id} {run.name}" for run in runs)

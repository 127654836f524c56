"""`arcadia stop`, `pause`, `resume`, `change`, `fork`, `clone`, `archive` and `delete`: actions on runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from arcadia._sync.runs import Run
from arcadia.cli.options import (
    Changes,
    Checkpoint,
    Json,
    Quiet,
    RunReference,
    RunReferences,
    Wait,
    Yes,
    choose,
    open_client,
    parse_changes,
    parse_count,
    parse_numbers,
)
from arcadia.cli.output import (
    age,
    confirm,
    count,
    describe_change,
    exit_status,
    interruptible,
    joined,
    name_with_seed,
    plural,
    print_json,
    print_table,
    say,
    show,
    wait_for_runs,
)
from arcadia.errors import ApiError
from arcadia.records.run import Change


def finish_new_runs(runs: Sequence[Run], *, wait: bool, quiet: bool, as_json: bool) -> None:
    """Print new runs. With `wait`, print them when they have ended, and exit with 1 unless all are finished."""
    if quiet:
        show("\n".join(str(run.id) for run in runs))
    elif not as_json:
        for run in runs:
            show(f"Run {run.id} {run.name} is {run.state}: {run.url}")
    if wait:
        with interruptible(continues(runs)):
            wait_for_runs(runs, progress=not as_json)
    if as_json:
        print_json([run.data for run in runs])
    if wait:
        raise typer.Exit(exit_status(runs))


def continues(runs: Sequence[Run]) -> str:
    """Return the message for Ctrl-C while runs are waited for."""
    ids = " ".join(str(run.id) for run in runs)
    subject = f"Run {ids} continues" if len(runs) == 1 else f"{plural(len(runs), 'run')} continue"
    return f"{subject}. Watch with: arcadia watch {ids}"


def report_skipped(skipped: Sequence[str]) -> None:
    """Report failures of an action on several runs, and exit with 1 if there are any."""
    for message in skipped:
        say(f"arcadia: {message}")
    if skipped:
        raise typer.Exit(1)


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


MoreSteps = Annotated[
    str, typer.Option("--more-steps", metavar="STEPS", help="Train this many steps longer, such as 500k or 2M.")
]


def change(
    ctx: typer.Context,
    run: RunReference,
    changes: Changes = [],  # noqa: B006 - Typer copies it
    more_steps: MoreSteps = "",
    as_json: Json = False,
) -> None:
    """Change settings of a run from its next update on, or list its changes.

    A run that has ended is queued again if it gets more steps, and continues from its last checkpoint.
    """
    fields = parse_changes(changes)
    more = parse_count(more_steps, "--more-steps") if more_steps else None
    chosen = open_client(ctx).run(run)
    if not fields and more is None:
        listed = chosen.changes()
        if as_json:
            print_json([each.data for each in listed])
        else:
            rows = [
                [
                    str(each.number),
                    _describe(each),
                    age(each.data["requested_at"]),
                    each.requested_by or "",
                    _state(each),
                ]
                for each in listed
            ]
            print_table(["NUMBER>", "CHANGE*", "AGE>", "BY", "STATE"], rows, empty=f"Run {chosen.id} has no changes.")
        return
    requested = chosen.change(more_steps=more, **fields)
    if as_json:
        print_json(requested.data)
    else:
        when = "The next update uses it." if chosen.is_active else "It is used when a worker takes the run."
        show(f"Run {chosen.id} {chosen.name}: {_describe(requested)}. {when}")


def _describe(change: Change) -> str:
    parts = [f"{name} {_value(change.previous.get(name))} → {_value(value)}" for name, value in change.fields.items()]
    return ", ".join(parts)


def _value(value: Any) -> str:
    return count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _state(change: Change) -> str:
    return f"applied at step {count(change.applied_step)}" if change.is_applied else "waiting"


def clone(
    ctx: typer.Context,
    run: RunReference,
    changes: Changes = [],  # noqa: B006 - Typer copies it
    seed: Annotated[str, typer.Option(metavar="SEEDS", help="Seeds, such as 3 or 1-5: one run for each.")] = "",
    name: Annotated[str, typer.Option(help="Name. With several seeds, the seed is appended.")] = "",
    wait: Wait = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Launch a copy of a run with some fields changed."""
    fields = parse_changes(changes)
    seeds = parse_numbers(seed) if seed else []
    original = open_client(ctx).run(run)
    if len(seeds) > 1:
        copies = [_clone_with_seed(original, name, fields, each) for each in seeds]
    else:
        copies = [original.clone(name=name or None, **fields, **({"seed": seeds[0]} if seeds else {}))]
    finish_new_runs(copies, wait=wait, quiet=quiet, as_json=as_json)


def fork(
    ctx: typer.Context,
    run: RunReference,
    checkpoint: Checkpoint = "newest",
    changes: Changes = [],  # noqa: B006 - Typer copies it
    name: Annotated[str | None, typer.Option(help="Name of the new run.")] = None,
    wait: Wait = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Continue from a checkpoint of a run in a new run, with some fields changed."""
    fields = parse_changes(changes)
    original, choice = choose(open_client(ctx), run, checkpoint)
    copy = original.fork(choice, name=name, **fields)
    finish_new_runs([copy], wait=wait, quiet=quiet, as_json=as_json)


def _clone_with_seed(original: Run, name: str, fields: dict[str, Any], seed: int) -> Run:
    """Return a clone with one of several seeds. Its name ends with the seed."""
    fields = {**fields, "seed": seed}
    if name:
        return original.clone(name=name_with_seed(name, seed), **fields)
    copy = original.clone(**fields)
    # The server gives the clone a new name only if the original has an automatic one.
    return copy if copy.name != original.name else copy.edit(name=name_with_seed(original.name, seed))

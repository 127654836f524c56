"""`arcadia clone` and `arcadia fork`: new runs from existing ones."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia._sync.runs import Run
from arcadia.cli.chosen_checkpoints import choose
from arcadia.cli.connection import open_client
from arcadia.cli.finishing import finish_new_runs
from arcadia.cli.formats import name_with_seed
from arcadia.cli.options import (
    Changes,
    Checkpoint,
    Json,
    Quiet,
    RunReference,
    Wait,
    parse_changes,
    parse_numbers,
)


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

"""`arcadia clone` and `arcadia fork`: new runs from existing ones."""

from __future__ import annotations

from typing import Annotated

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.finishing import finish_new_runs
from arcadia.cli.options import Changes, Checkpoint, Json, Quiet, RunReference, Wait, parse_changes, parse_numbers
from arcadia.cli.selection import checkpoint_id, select_run

NewName = Annotated[str | None, typer.Option(help="Name of the new run.")]


def clone(
    ctx: typer.Context,
    run: RunReference,
    changes: Changes = [],  # noqa: B006 - Typer copies it
    seed: Annotated[str, typer.Option(metavar="SEEDS", help="Seeds, such as 3 or 1-5: one run for each.")] = "",
    name: NewName = None,
    wait: Wait = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Launch a copy of a run with some fields changed."""
    client = open_client(ctx)
    path = f"/runs/{select_run(client, run)['id']}/clone"
    fields = parse_changes(changes)
    seeds = [{"seed": each} for each in parse_numbers(seed)] if seed else [{}]
    runs = [client.transport.post(path, {"name": name, "overrides": {**fields, **own}}) for own in seeds]
    finish_new_runs(client, runs, wait=wait, quiet=quiet, as_json=as_json)


def fork(
    ctx: typer.Context,
    run: RunReference,
    checkpoint: Checkpoint = "newest",
    changes: Changes = [],  # noqa: B006 - Typer copies it
    name: NewName = None,
    wait: Wait = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Continue from a checkpoint of a run in a new run, with some fields changed."""
    client = open_client(ctx)
    parent = select_run(client, run)
    body = {
        "checkpoint_id": checkpoint_id(client, parent["id"], checkpoint),
        "name": name,
        "overrides": parse_changes(changes),
    }
    copy = client.transport.post(f"/runs/{parent['id']}/fork", body)
    finish_new_runs(client, [copy], wait=wait, quiet=quiet, as_json=as_json)

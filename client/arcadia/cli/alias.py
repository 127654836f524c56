"""`arcadia alias`: names of checkpoints, such as pong/champion."""

from __future__ import annotations

from typing import Annotated

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.formats import age, clean, count
from arcadia.cli.options import Checkpoint, Json, RunReference, parse_checkpoint
from arcadia.cli.output import print_json, print_table, show
from arcadia.records.alias import Alias
from arcadia.version import user_name

app = typer.Typer(help="Names of checkpoints, such as pong/champion.", no_args_is_help=True, rich_markup_mode=None)

MAX_WHO = 100

Name = Annotated[str, typer.Argument(metavar="ALIAS", help="Alias, such as pong/champion.")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="Reason for the change, for the history.")]


@app.command("list")
def list_aliases(ctx: typer.Context, as_json: Json = False) -> None:
    """List aliases with the checkpoints that they name."""
    _print(open_client(ctx).aliases(), as_json=as_json, empty="There is no alias yet.")


@app.command("set")
def set_alias(
    ctx: typer.Context,
    name: Name,
    run: RunReference,
    checkpoint: Checkpoint = "best",
    why: Why = "",
    as_json: Json = False,
) -> None:
    """Point an alias to a checkpoint, by default the best one of a run."""
    client = open_client(ctx)
    chosen = client.run(run).checkpoint(parse_checkpoint(checkpoint))
    found = client.set_alias(name, chosen, why=why, who=_who())
    print_json(found.data) if as_json else show(f"{found.name}: run {found.run_id} at step {count(found.step)}")


@app.command()
def history(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show the history of an alias, newest first."""
    _print(open_client(ctx).alias_history(name), as_json=as_json, empty="")


@app.command()
def remove(ctx: typer.Context, name: Name, why: Why = "") -> None:
    """Remove an alias. Its history and its checkpoint stay."""
    open_client(ctx).remove_alias(name, why=why, who=_who())
    show(f"{name} was removed.")


def _print(found: list[Alias], *, as_json: bool, empty: str) -> None:
    if as_json:
        print_json([each.data for each in found])
        return
    rows = [
        [
            each.name,
            f"{each.run_id}" if each.checkpoint_id is not None else "removed",
            clean(each.run_name or ""),
            count(each.step),
            clean(each.who or ""),
            age(each.data["changed_at"]),
            clean(each.why),
        ]
        for each in found
    ]
    print_table(["ALIAS", "RUN>", "NAME*", "STEP>", "WHO", "SINCE>", "WHY*"], rows, empty=empty)


def _who() -> str | None:
    return user_name()[:MAX_WHO] or None

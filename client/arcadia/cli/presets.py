"""`arcadia presets`: list the presets, or show one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.formats import clean, count
from arcadia.cli.options import Json
from arcadia.cli.output import print_fields, print_json, print_table, show
from arcadia.errors import ArcadiaError


def presets(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="[PRESET]", help="Preset to show.", autocompletion=completion.complete_preset)
    ] = "",
    as_json: Json = False,
) -> None:
    """List the presets, or show the configuration of one."""
    found = [preset.data for preset in open_client(ctx).presets()]
    if name:
        chosen = [preset for preset in found if preset["name"] == name]
        if not chosen:
            raise ArcadiaError(f"There is no preset {name}. `arcadia presets` lists them.")
        print_json(chosen[0]) if as_json else _print(chosen[0])
    elif as_json:
        print_json(found)
    else:
        rows = [[each["name"], each["title"], each["method"], count(each["config"]["total_steps"])] for each in found]
        print_table(["NAME", "TITLE*", "METHOD", "STEPS>"], rows, empty="There are no presets.")


def _print(preset: dict[str, Any]) -> None:
    print_fields([("Preset", preset["name"]), ("Title", preset["title"]), ("Source", preset["source"])])
    show("")
    print_fields((field, clean(value)) for field, value in preset["config"].items())

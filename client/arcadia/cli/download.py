"""`arcadia download`: save checkpoints and replays as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia._sync.downloads import download
from arcadia.cli.connection import open_client
from arcadia.cli.formats import count, number, size
from arcadia.cli.options import Json, RunReference
from arcadia.cli.output import print_json, print_table, say, show
from arcadia.cli.selection import checkpoint_id, select_run
from arcadia.errors import ArcadiaError

app = typer.Typer(help="Save checkpoints and replays as files.", no_args_is_help=True, rich_markup_mode=None)

Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files.")]
List = Annotated[bool, typer.Option("--list", help="List them instead.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Item = dict[str, Any]


@app.command()
def checkpoints(
    ctx: typer.Context,
    run: RunReference,
    which: Annotated[
        str, typer.Option("--checkpoint", metavar="CHECKPOINT", help="newest, best, all, or the step of a checkpoint.")
    ] = "newest",
    out: Folder = Path(),
    listed: List = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Download checkpoints of a run."""
    client = open_client(ctx)
    run_id = select_run(client, run)["id"]
    found: list[Item] = client.transport.get(f"/runs/{run_id}/checkpoints")
    if listed:
        print_json(found) if as_json else _list_checkpoints(found)
        return
    if which != "all":
        chosen_id = checkpoint_id(client, run_id, which)
        found = [each for each in found if each["id"] == chosen_id]
    files = [
        (each["file_id"], out / f"run-{run_id}-step-{each['step']}-attempt-{each['attempt']}.checkpoint")
        for each in found
        if each["available"]
    ]
    _download(client, files, overwrite=overwrite, as_json=as_json)


@app.command()
def replays(
    ctx: typer.Context,
    run: RunReference,
    latest: Annotated[int | None, typer.Option(min=1, help="Only this many of the latest.")] = None,
    tracks: Annotated[bool, typer.Option("--tracks", help="Also what the agent computed, as .npz files.")] = False,
    out: Folder = Path(),
    listed: List = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Download the videos of a run's replays."""
    client = open_client(ctx)
    run_id = select_run(client, run)["id"]
    found: list[Item] = client.transport.get(f"/runs/{run_id}/replays")
    found = found if latest is None else found[-latest:]
    if listed:
        print_json(found) if as_json else _list_replays(found)
        return
    files: list[tuple[int, Path]] = []
    for each in found:
        name = out / f"run-{run_id}-step-{each['step']}-replay-{each['id']}"
        kinds = [(each["file_id"], ".mp4"), (each["track_file_id"] if tracks else None, ".npz")]
        files += [(file_id, name.with_name(name.name + ending)) for file_id, ending in kinds if file_id is not None]
    _download(client, files, overwrite=overwrite, as_json=as_json)


def _download(client: Client, files: Sequence[tuple[int, Path]], *, overwrite: bool, as_json: bool) -> None:
    """Save files and print their paths, one per line or as JSON."""
    if not files:
        raise ArcadiaError("The run has no such file yet. Try again after its first checkpoint.")
    for file_id, target in files:
        if target.exists() and not overwrite:
            say(f"{target} exists. Replace it with --overwrite.")
        else:
            say(f"Downloading {target}")
            download(client.transport, file_id, target, target.name)
    paths = [str(target) for _, target in files]
    print_json(paths) if as_json else show("\n".join(paths))


def _list_checkpoints(found: list[Item]) -> None:
    rows = [
        [
            count(each["step"]),
            number(each["return_mean"]),
            size(each["bytes"]),
            "best" if each["best"] else "",
            (each["kept_as"] or "") if each["available"] else "file pruned",
        ]
        for each in found
    ]
    print_table(["STEP>", "RETURN>", "SIZE>", "BEST", "KEPT AS*"], rows, empty="The run has no checkpoint yet.")


def _list_replays(found: list[Item]) -> None:
    rows = [
        [str(each["id"]), count(each["step"]), number(each["episode_return"]), f"{each['seconds']:.1f} s"]
        for each in found
    ]
    print_table(["ID>", "STEP>", "RETURN>", "LENGTH>"], rows, empty="The run has no replay yet.")

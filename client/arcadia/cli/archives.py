"""`arcadia export` and `arcadia import`: runs as archive files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.options import Json, RunReferences
from arcadia.cli.output import print_json, say, show
from arcadia.errors import ArcadiaError
from arcadia.records.archive import FilesChoice, ImportResult

FILES_CHOICES = ("all", "best", "none")


def export(
    ctx: typer.Context,
    runs: RunReferences,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Archive file or folder.")] = None,
    files: Annotated[
        str,
        typer.Option("--files", metavar="WHICH", help="all, none, or best: only the best and the newest checkpoint."),
    ] = "all",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Json = False,
) -> None:
    """Save runs with all their data as one archive file."""
    if files not in FILES_CHOICES:
        raise typer.BadParameter(f"{files!r} is none of {', '.join(FILES_CHOICES)}")
    if out is not None and out.is_file() and not overwrite:
        raise ArcadiaError(f"{out} exists. Replace it with --overwrite.")
    choice = cast("FilesChoice", files)
    path = open_client(ctx).export_runs(*runs, path=out, files=choice, progress=not as_json)
    print_json(str(path)) if as_json else show(str(path))


def import_files(
    ctx: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES...", help="Archive files.", exists=True, dir_okay=False)
    ],
    as_json: Json = False,
) -> None:
    """Import runs from archive files. Runs that are already there are not imported again."""
    client = open_client(ctx)
    results = {str(file): client.import_archive(file, progress=not as_json) for file in files}
    if as_json:
        print_json({name: result.data for name, result in results.items()})
        return
    for name, result in results.items():
        _report(name, result)


def _report(name: str, result: ImportResult) -> None:
    for sentence in result.notes:
        say(sentence)
    if result.existing_run_ids:
        say(f"{name}: already there: {_numbered(result.existing_run_ids)}.")
    if result.run_ids:
        show(f"{name}: imported {_numbered(result.run_ids)}.")


def _numbered(ids: list[int]) -> str:
    return f"run {ids[0]}" if len(ids) == 1 else f"runs {', '.join(map(str, ids))}"

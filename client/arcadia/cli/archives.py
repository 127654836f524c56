"""`arcadia export` and `arcadia import`: runs, studies and reports as archive files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.options import RUNS_HELP, Json
from arcadia.cli.output import print_json, say, show
from arcadia.errors import ArcadiaError
from arcadia.records.archive import FilesChoice, ImportResult
from arcadia.settings import PROJECT_VARIABLE

FILES_CHOICES = ("all", "best", "none")


def export(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUNS...", help=RUNS_HELP, autocompletion=completion.complete_run)
    ] = None,
    studies: Annotated[
        list[int] | None,
        typer.Option("--study", metavar="STUDY", help="Study with its runs.", autocompletion=completion.complete_study),
    ] = None,
    reports: Annotated[
        list[int] | None, typer.Option("--report", metavar="REPORT", help="Report with the runs that it shows.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Archive file or folder.")] = None,
    files: Annotated[
        str,
        typer.Option("--files", metavar="WHICH", help="all, none, or best: only the best and the newest checkpoint."),
    ] = "all",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Json = False,
) -> None:
    """Save runs, studies and reports with all their data as one archive file."""
    if not (runs or studies or reports):
        raise typer.BadParameter("Name runs, or a study or a report: 7-12, --study 3 or --report 2")
    if files not in FILES_CHOICES:
        raise typer.BadParameter(f"{files!r} is none of {', '.join(FILES_CHOICES)}")
    if out is not None and out.is_file() and not overwrite:
        raise ArcadiaError(f"{out} exists. Replace it with --overwrite.")
    choice = cast("FilesChoice", files)
    path = open_client(ctx).export_archive(
        *(runs or []), studies=studies or [], reports=reports or [], path=out, files=choice, progress=not as_json
    )
    print_json(str(path)) if as_json else show(str(path))


def import_files(
    ctx: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES...", help="Archive files.", exists=True, dir_okay=False)
    ],
    project: Annotated[
        str | None,
        typer.Option(
            envvar=PROJECT_VARIABLE,
            help="Project for everything. Default: the projects named in the files.",
            autocompletion=completion.complete_project,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Import archive files. What is already there is not imported again."""
    client = open_client(ctx)
    given = project or None
    results = {str(file): client.import_archive(file, project=given, progress=not as_json) for file in files}
    if as_json:
        print_json({name: result.data for name, result in results.items()})
        return
    for name, result in results.items():
        _report(name, result)


def _report(name: str, result: ImportResult) -> None:
    for sentence in result.notes:
        say(sentence)
    there = (result.existing_run_ids, result.existing_study_ids, result.existing_report_ids)
    if any(there):
        say(f"{name}: already there: {_numbered(*there)}.")
    imported = (result.run_ids, result.study_ids, result.report_ids)
    if any(imported):
        show(f"{name}: imported {_numbered(*imported)}.")


def _numbered(runs: list[int], studies: list[int], reports: list[int]) -> str:
    named = (("run", "runs", runs), ("study", "studies", studies), ("report", "reports", reports))
    kinds = [
        f"{one if len(ids) == 1 else several} {', '.join(map(str, sorted(ids)))}" for one, several, ids in named if ids
    ]
    return " and ".join(kinds)

"""`arcadia download`, `export` and `import`: checkpoints, replays and archives as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Protocol, cast

import typer

from arcadia._sync.artifacts import Checkpoint
from arcadia._sync.jobs import Replay
from arcadia._sync.runs import Run
from arcadia.cli import options
from arcadia.cli.options import RUNS_HELP, Json, RunReference, choose, open_client
from arcadia.cli.output import count, number, print_json, print_table, say, show
from arcadia.errors import ArcadiaError
from arcadia.notebook import format_size
from arcadia.records.artifact import FilesChoice, ImportResult
from arcadia.records.run import explain_missing
from arcadia.settings import PROJECT_VARIABLE

app = typer.Typer(help="Save checkpoints and replays as files.", no_args_is_help=True, rich_markup_mode=None)

Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files.")]
List = Annotated[bool, typer.Option("--list", help="List them instead.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]


class Download(Protocol):
    """A method that saves a file."""

    def __call__(self, path: Path, *, progress: bool) -> Path:
        """Save the file under a path."""


@app.command()
def checkpoints(
    ctx: typer.Context,
    run: RunReference,
    which: Annotated[
        str,
        typer.Option(
            "--checkpoint", metavar="CHECKPOINT", help="newest, best, all, an alias, or the step of a checkpoint."
        ),
    ] = "newest",
    out: Folder = Path(),
    listed: List = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Download checkpoints of a run."""
    source, choice = choose(open_client(ctx), run, which)
    every = source.checkpoints()
    if listed:
        print_json([each.data for each in every]) if as_json else _list_checkpoints(source, every)
        return
    chosen = every if which == "all" else [source.checkpoint(choice)]
    files = {
        out / f"run-{source.id}-step-{each.step}-attempt-{each.attempt}.safetensors": each.download
        for each in chosen
        if each.is_available
    }
    _download(files, explain_missing(source, "checkpoint"), overwrite=overwrite, as_json=as_json)


@app.command()
def replays(
    ctx: typer.Context,
    run: RunReference,
    latest: Annotated[int | None, typer.Option(min=1, help="Only this number of the newest replays.")] = None,
    tracks: Annotated[bool, typer.Option("--tracks", help="Also the tracks, as .npz files.")] = False,
    out: Folder = Path(),
    listed: List = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Download the videos of a run's replays."""
    source = open_client(ctx).run(run)
    available = source.replays()
    available = available if latest is None else available[-latest:]
    if listed:
        print_json([each.data for each in available]) if as_json else _list_replays(source, available)
        return
    files: dict[Path, Download] = {}
    for each in available:
        name = f"run-{each.run_id}-step-{each.step}-replay-{each.id}"
        if each.file_id is not None:
            files[out / f"{name}.mp4"] = each.download
        if tracks and each.track_file_id is not None:
            files[out / f"{name}.npz"] = each.download_track
    _download(files, explain_missing(source, "replay"), overwrite=overwrite, as_json=as_json)


def _download(files: Mapping[Path, Download], empty: str, *, overwrite: bool, as_json: bool) -> None:
    """Save files and print their paths, one per line or as JSON."""
    if not files:
        raise ArcadiaError(empty)
    for target, download in files.items():
        if target.exists() and not overwrite:
            say(f"{target} exists. Replace it with --overwrite.")
        else:
            download(target, progress=not as_json)
    paths = [str(target) for target in files]
    print_json(paths) if as_json else show("\n".join(paths))


def _list_checkpoints(run: Run, checkpoints: Sequence[Checkpoint]) -> None:
    rows = [
        [
            count(each.step),
            number(each.return_mean),
            format_size(each.bytes),
            "best" if each.is_best else "",
            (each.data["kept_as"] or "") if each.is_available else "file pruned",
        ]
        for each in checkpoints
    ]
    print_table(["STEP>", "RETURN>", "SIZE>", "BEST", "KEPT AS*"], rows, empty=explain_missing(run, "checkpoint"))


def _list_replays(run: Run, replays: Sequence[Replay]) -> None:
    rows = [[str(each.id), count(each.step), number(each.episode_return), f"{each.seconds:.1f} s"] for each in replays]
    print_table(["ID>", "STEP>", "RETURN>", "LENGTH>"], rows, empty=explain_missing(run, "replay"))


FILES_CHOICES = ("all", "best", "none")


def export(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUNS...", help=RUNS_HELP, autocompletion=options.complete_run)
    ] = None,
    studies: Annotated[
        list[int] | None,
        typer.Option("--study", metavar="STUDY", help="Study with its runs.", autocompletion=options.complete_study),
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
            autocompletion=options.complete_project,
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

"""`arcadia artifacts`: versioned files that scripts have logged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcadia.cli.connection import explain_empty, open_client
from arcadia.cli.formats import age, clean, plural
from arcadia.cli.options import Json, NewProject, ProjectFilter, Yes
from arcadia.cli.output import confirm, print_fields, print_json, print_table, show
from arcadia.progress import format_size

app = typer.Typer(help="Versioned files of scripts, such as models.", no_args_is_help=True, rich_markup_mode=None)

Reference = Annotated[
    str, typer.Argument(metavar="ARTIFACT", help="Such as model, model:best, model:v3 or Maze/model:best.")
]
Alias = Annotated[str, typer.Argument(metavar="ALIAS", help="Alias, such as best.")]


@app.command("list")
def list_artifacts(
    ctx: typer.Context,
    project: ProjectFilter = "",
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only of this kind, such as model.")
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="Only with this text in the name.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of artifacts.")] = 50,
    as_json: Json = False,
) -> None:
    """List artifacts with their newest versions, the last changed first."""
    client = open_client(ctx)
    found = client.artifacts(project=project or None, kind=kind, search=search, limit=limit)
    if as_json:
        print_json([each.data for each in found])
        return
    rows = [
        [
            clean(each.name),
            clean(each.project),
            clean(each.kind),
            f"v{each.latest.version}",
            clean(", ".join(alias for alias in each.latest.aliases if alias != "latest")),
            format_size(each.latest.bytes),
            clean(each.latest.run_name or ""),
            age(each.latest.data["created_at"]),
        ]
        for each in found
    ]
    columns = ["ARTIFACT", "PROJECT", "KIND", "NEWEST>", "ALIASES", "SIZE>", "MADE BY*", "SINCE>"]
    empty = ""
    if not found:
        given = {"project": project, "kind": kind or "", "search": search or ""}
        empty = explain_empty(client, "artifact", given)
        empty = empty or 'There is no artifact. A script logs one with run.log_artifact("model.pt").'
    print_table(columns, rows, empty=empty)


@app.command("show")
def show_artifact(ctx: typer.Context, reference: Reference, project: NewProject = None, as_json: Json = False) -> None:
    """Show a version: its files, and the runs that made and used it."""
    version = open_client(ctx).artifact(reference, project=project)
    if as_json:
        print_json(version.data)
        return
    print_fields(
        [
            ("Artifact", f"{version.project}/{version.reference}"),
            ("Kind", version.kind),
            ("Aliases", ", ".join(version.aliases)),
            ("Size", format_size(version.bytes)),
            ("Logged", f"{age(version.data['created_at'])} ago"),
            ("Made by", _runs(version.made_by) or _deleted(version.run_name)),
            ("Used by", _runs(version.used_by)),
            *((clean(name), str(value)) for name, value in version.metadata.items()),
        ]
    )
    rows = [
        [clean(file.path), format_size(file.bytes) if file.uri is None else clean(file.uri)] for file in version.files
    ]
    print_table(["FILE", "SIZE>"], rows, empty="")


@app.command("download")
def download_artifact(
    ctx: typer.Context,
    reference: Reference,
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Default: model-v3 in the working folder.")
    ] = None,
    project: NewProject = None,
) -> None:
    """Save the files of a version in a folder. Files that it has already are not downloaded again."""
    version = open_client(ctx).artifact(reference, project=project)
    place = version.download(folder)
    references = sum(file.uri is not None for file in version.files)
    left_out = f" {plural(references, 'reference')} left out." if references else ""
    show(f"{version.reference} is in {place}.{left_out}")


@app.command("alias")
def set_alias(ctx: typer.Context, reference: Reference, alias: Alias, project: NewProject = None) -> None:
    """Give an alias to a version. The version that had it loses it."""
    version = open_client(ctx).artifact(reference, project=project).set_alias(alias)
    show(f"{version.name}:{alias} is {version.reference}.")


@app.command("delete")
def delete_version(
    ctx: typer.Context,
    reference: Reference,
    project: NewProject = None,
    yes: Yes = False,
) -> None:
    """Permanently delete a version, and the files that no other version has."""
    version = open_client(ctx).artifact(reference, project=project)
    confirm(f"Permanently delete {version.project}/{version.reference} ({format_size(version.bytes)})?", yes)
    version.delete()
    show(f"{version.reference} was deleted.")


def _runs(runs: dict[int, str]) -> str:
    return ", ".join(f"{clean(name)} (run {number})" for number, name in runs.items())


def _deleted(name: str | None) -> str:
    return f"{clean(name)}, which was deleted" if name else ""

"""`arcadia artifacts` and `arcadia alias`: versioned files of scripts, and names of checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcadia.cli.options import (
    Checkpoint,
    Json,
    NewProject,
    ProjectFilter,
    RunReference,
    Yes,
    explain_empty,
    open_client,
    parse_checkpoint,
)
from arcadia.cli.output import age, clean, confirm, count, plural, print_fields, print_json, print_table, show
from arcadia.notebook import format_size
from arcadia.records.artifact import Alias
from arcadia.version import user_name

alias_app = typer.Typer(
    help="Names of checkpoints, such as pong/champion.", no_args_is_help=True, rich_markup_mode=None
)

MAX_WHO = 100

Name = Annotated[str, typer.Argument(metavar="ALIAS", help="Alias, such as pong/champion.")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="Reason for the change, for the history.")]


@alias_app.command("list")
def list_aliases(ctx: typer.Context, as_json: Json = False) -> None:
    """List aliases with the checkpoints that they name."""
    _print(open_client(ctx).aliases(), as_json=as_json, empty="There is no alias yet.")


@alias_app.command("set")
def point_alias(
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
    pointed = client.set_alias(name, chosen, why=why, who=_who())
    print_json(pointed.data) if as_json else show(f"{pointed.name}: run {pointed.run_id} at step {count(pointed.step)}")


@alias_app.command()
def history(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show the history of an alias, newest first."""
    _print(open_client(ctx).alias_history(name), as_json=as_json, empty="")


@alias_app.command()
def remove(ctx: typer.Context, name: Name, why: Why = "") -> None:
    """Remove an alias. Its history and its checkpoint stay."""
    open_client(ctx).remove_alias(name, why=why, who=_who())
    show(f"{name} was removed.")


def _print(aliases: list[Alias], *, as_json: bool, empty: str) -> None:
    if as_json:
        print_json([each.data for each in aliases])
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
        for each in aliases
    ]
    print_table(["ALIAS", "RUN>", "NAME*", "STEP>", "WHO", "SINCE>", "WHY*"], rows, empty=empty)


def _who() -> str | None:
    return user_name()[:MAX_WHO] or None


app = typer.Typer(help="Versioned files of scripts, such as models.", no_args_is_help=True, rich_markup_mode=None)

Reference = Annotated[
    str, typer.Argument(metavar="ARTIFACT", help="Such as model, model:best, model:v3 or Maze/model:best.")
]
ArtifactAlias = Annotated[str, typer.Argument(metavar="ALIAS", help="Alias, such as best.")]


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
    artifacts = client.artifacts(project=project or None, kind=kind, search=search, limit=limit)
    if as_json:
        print_json([each.data for each in artifacts])
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
        for each in artifacts
    ]
    columns = ["ARTIFACT", "PROJECT", "KIND", "NEWEST>", "ALIASES", "SIZE>", "MADE BY*", "SINCE>"]
    empty = ""
    if not artifacts:
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
def set_alias(ctx: typer.Context, reference: Reference, alias: ArtifactAlias, project: NewProject = None) -> None:
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

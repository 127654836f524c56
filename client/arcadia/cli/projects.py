"""`arcadia projects` and `arcadia move`: manage projects, and move runs, studies and reports between them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from arcadia._sync.projects import Project
from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.formats import age, clean, number, plural
from arcadia.cli.options import RUNS_HELP, Json, Yes
from arcadia.cli.output import confirm, print_fields, print_json, print_table
from arcadia.cli.output import show as show_text

app = typer.Typer(help="List, create, rename, merge and delete projects.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[
    str,
    typer.Argument(metavar="PROJECT", help="Name of the project.", autocompletion=completion.complete_project),
]
TextOption = Annotated[str | None, typer.Option("--text", help="Text of its page, as Markdown.")]


@app.command("list")
def list_projects(ctx: typer.Context, as_json: Json = False) -> None:
    """List projects with their runs, studies and reports."""
    found = open_client(ctx).projects()
    if as_json:
        print_json([project.data for project in found])
        return
    rows: list[list[Text | str]] = [
        [
            project.name,
            f"{project.run_count:,}",
            f"{project.active_run_count:,}",
            f"{project.study_count:,}",
            f"{project.report_count:,}",
            age(project.data["last_activity"]),
        ]
        for project in found
    ]
    print_table(["PROJECT*", "RUNS>", "ACTIVE>", "STUDIES>", "REPORTS>", "LAST ACTIVITY>"], rows, empty="")


@app.command()
def show(ctx: typer.Context, project: Name, as_json: Json = False) -> None:
    """Show a project with its text and its best agents."""
    found = open_client(ctx).project(project)
    if as_json:
        print_json(found.data)
        return
    pinned = found.data["pinned_report"]
    print_fields(
        [
            ("Project", found.name),
            ("Runs", f"{found.run_count:,}, {found.active_run_count:,} active"),
            ("Studies", f"{found.study_count:,}"),
            ("Reports", f"{found.report_count:,}"),
            ("Pinned", f"{pinned['id']} {pinned['title']}" if pinned else ""),
            ("Text", clean(found.text or "")),
        ]
    )
    _print_agents(found)


@app.command()
def create(ctx: typer.Context, project: Name, text: TextOption = None, as_json: Json = False) -> None:
    """Create a project."""
    found = open_client(ctx).create_project(project, text or "")
    print_json(found.data) if as_json else show_text(f"Created project {found.name}.")


@app.command()
def rename(
    ctx: typer.Context,
    project: Name,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    as_json: Json = False,
) -> None:
    """Rename a project."""
    found = open_client(ctx).project(project)
    before = found.name
    found.edit(name=name)
    print_json(found.data) if as_json else show_text(f"Renamed project {before} to {found.name}.")


@app.command()
def merge(
    ctx: typer.Context,
    project: Name,
    into: Annotated[
        str,
        typer.Argument(metavar="INTO", help="Project to move to.", autocompletion=completion.complete_project),
    ],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Move everything of a project into another one, and delete it."""
    client = open_client(ctx)
    found, target = client.project(project), client.project(into)
    confirm(f"Merge project {found.name} with {plural(found.run_count, 'run')} into {target.name}?", yes)
    merged = found.merge(target.name)
    print_json(merged.data) if as_json else show_text(f"Merged project {found.name} into {merged.name}.")


@app.command()
def delete(ctx: typer.Context, project: Name, yes: Yes = False) -> None:
    """Delete an empty project."""
    found = open_client(ctx).project(project)
    confirm(f"Delete project {found.name}?", yes)
    found.delete()
    show_text(f"Deleted project {found.name}.")


def move(
    ctx: typer.Context,
    items: Annotated[
        list[str],
        typer.Argument(
            metavar="RUNS... PROJECT",
            help=f"{RUNS_HELP} The last argument is the project.",
            autocompletion=completion.complete_run,
        ),
    ],
    studies: Annotated[
        list[int],
        typer.Option("--study", metavar="STUDY", help="Study with its runs.", autocompletion=completion.complete_study),
    ] = [],  # noqa: B006 - Typer copies it
    reports: Annotated[list[int], typer.Option("--report", metavar="REPORT", help="Report.")] = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Move runs, studies and reports to another project."""
    *runs, name = items
    if not (runs or studies or reports):
        raise typer.BadParameter("Name runs, or a study or a report: 7-12 maze, or --study 3 maze")
    project = open_client(ctx).project(name)
    moved = project.move(*runs, studies=studies, reports=reports)
    if as_json:
        print_json(moved.data)
        return
    counts = (
        (moved.run_ids, "run", "runs"),
        (moved.study_ids, "study", "studies"),
        (moved.report_ids, "report", "reports"),
    )
    parts = [f"{len(ids):,} {one if len(ids) == 1 else many}" for ids, one, many in counts if ids]
    show_text(f"Moved {' and '.join(parts) or 'nothing'} to {project.name}.")


def _print_agents(project: Project) -> None:
    rows: list[list[Text | str]] = [
        [agent["env_title"], number(agent["best_return"]), str(agent["run_id"]), agent["run_name"]]
        for agent in project.best_agents
    ]
    if rows:
        print_table(["BEST AGENT IN", "RETURN>", "RUN>", "NAME*"], rows, empty="")

"""`arcadia runs`, `show` and `tag`: list runs, show one, and change its tags."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from arcadia.cli import completion
from arcadia.cli.connection import explain_empty, open_client
from arcadia.cli.formats import MISSING, age, clean, joined, number, percent, plural
from arcadia.cli.options import RUNS_HELP, Json, ProjectFilter, Quiet, RunReference, RunReferences
from arcadia.cli.output import print_json, print_table, say, state
from arcadia.cli.output import show as show_text
from arcadia.cli.run_details import print_details
from arcadia.cli.run_groups import print_groups
from arcadia.listed_runs import read_run_page
from arcadia.records.view import SavedView

MAIN_PROJECT = "Main"
STATES = ("queued", "starting", "running", "paused", "finished", "failed", "stopped")


def runs(
    ctx: typer.Context,
    references: Annotated[
        list[str], typer.Argument(metavar="[RUNS...]", help=RUNS_HELP, autocompletion=completion.complete_run)
    ] = [],  # noqa: B006 - Typer copies it
    states: Annotated[list[str], typer.Option("--state", help="Only runs in this state. May be repeated.")] = [],  # noqa: B006
    tag: Annotated[list[str], typer.Option(help="Only runs with this tag. May be repeated.")] = [],  # noqa: B006
    method: Annotated[list[str], typer.Option(help="Only runs of this method, such as paac.")] = [],  # noqa: B006
    env: Annotated[list[str], typer.Option(help="Only runs in this environment, such as ALE/Pong-v5.")] = [],  # noqa: B006
    search: Annotated[str, typer.Option(help="Search for text in name, notes, tags, environment or failure.")] = "",
    study: Annotated[int | None, typer.Option(help="Only runs of this study.")] = None,
    project: ProjectFilter = "",
    archived: Annotated[bool, typer.Option("--archived", help="Show archived runs instead of the others.")] = False,
    view: Annotated[
        str,
        typer.Option(
            "--view",
            metavar="NAME",
            help="Use the filters, order, groups and columns of a saved view. Other options override or extend them.",
            autocompletion=completion.complete_view,
        ),
    ] = "",
    filter: Annotated[  # noqa: A002 - the option's name
        str,
        typer.Option(
            metavar="EXPRESSION", help='Filter expression, such as "learning_rate < 1e-3 and best_return > 15".'
        ),
    ] = "",
    sort: Annotated[
        str | None,
        typer.Option(
            help="Columns, fields or expressions, separated by commas. A leading - sorts in descending order."
        ),
    ] = None,
    group_by: Annotated[
        str, typer.Option(metavar="NAMES", help="Group runs by columns and fields, such as method,env,learning_rate.")
    ] = "",
    metric: Annotated[
        list[str], typer.Option(help="Also show the last value of a metric.", autocompletion=completion.complete_metric)
    ] = [],  # noqa: B006
    config: Annotated[
        list[str],
        typer.Option(help="Also show a field of the configuration.", autocompletion=completion.complete_setting),
    ] = [],  # noqa: B006
    compute: Annotated[
        list[str], typer.Option(metavar="NAME=EXPRESSION", help="Also show a calculation. May be repeated.")
    ] = [],  # noqa: B006
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of runs or groups.")] = 20,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """List runs, newest first."""
    if wrong := [each for each in states if each not in STATES]:
        raise typer.BadParameter(f"--state {wrong[0]}: use one of {', '.join(STATES)}")
    client = open_client(ctx)
    saved = client.view(view, project=project or None) if view else None
    if saved:
        # A view of Main may belong to a page that shows all projects.
        project = project or ("" if saved.project == MAIN_PROJECT else saved.project)
        group_by = group_by or ",".join(saved.group_by)
        metric, config = [*metric, *_last_metrics(saved)], [*config, *_settings(saved)]
    given: dict[str, Any] = {
        "id": [run.id for run in client.runs(*references)] if references else None,
        "state": states,
        "tag": tag,
        "algorithm": method,
        "env": env,
        "text": search,
        "study": study,
        "project": None if references else project,
        "archived": archived,
        "filter": filter,
        "sort": sort,
    }
    filters = {**(saved.run_query if saved else {}), **{name: value for name, value in given.items() if value}}
    sort = filters.pop("sort", None)
    if group_by:
        values = ["return", "best_return", *(f'last("{name}")' for name in metric)]
        print_groups(client.transport, filters, group_by, values, sort or "-newest", limit, as_json=as_json)
        return
    found = client.transport.pages(
        "/runs",
        limit=limit,
        read=read_run_page,
        **filters,
        sort=sort or "-created_at",
        compute=compute,
        metric=metric,
        include=[f"config.{field}" for field in config],
    )
    if as_json:
        print_json(found)
    elif quiet:
        show_text("\n".join(str(run["id"]) for run in found))
    else:
        empty = "" if found else explain_empty(client, "run", {"project": given["project"] or ""})
        _print(found, metric, config, [column.partition("=")[0].strip() for column in compute], empty)
        if len(found) == limit:
            say(f"The list ends after {plural(limit, 'run')}. Show more with --limit.")


def show(
    ctx: typer.Context,
    run: RunReference,
    config: Annotated[bool, typer.Option("--config", help="Print the configuration as JSON.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run with its state, results, workers and warnings."""
    found = open_client(ctx).run(run)
    if config or as_json:
        print_json(found.config if config else found.data)
    else:
        print_details(found)


def tag(
    ctx: typer.Context,
    runs: RunReferences,
    add: Annotated[list[str], typer.Option(help="Tag to add. May be repeated.")] = [],  # noqa: B006
    remove: Annotated[list[str], typer.Option(help="Tag to remove. May be repeated.")] = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Add and remove tags of runs, or show them."""
    if not all(each.strip() for each in (*add, *remove)):
        raise typer.BadParameter("a tag is empty. Use one such as --add best")
    found = open_client(ctx).runs(*runs)
    if add or remove:
        for run in found:
            run.edit(tags=[tag for tag in dict.fromkeys([*run.tags, *add]) if tag not in remove])
    elif as_json:
        for run in found:
            run.refresh()
    if as_json:
        print_json([run.data for run in found])
        return
    for run in found:
        show_text(f"{run.id} {run.name}: {joined(run.tags)}")


def _print(found: list[dict[str, Any]], metrics: list[str], fields: list[str], computed: list[str], empty: str) -> None:
    columns = ["ID>", "NAME*", "STATE", "ENVIRONMENT", "DONE>", "RETURN>", "BEST>", "AGE>"]
    rows = [
        [
            str(run["id"]),
            run["name"],
            state(run["state"]),
            run["env"],
            percent(run["step"], run["total_steps"]),
            number(run["last_return"]),
            number(run["best_return"]),
            age(run["created_at"]),
            *(_last(run, name) for name in metrics),
            *(_setting(run, field) for field in fields),
            *(number(run["computed"][name]) for name in computed),
        ]
        for run in found
    ]
    added = [f"{name}>" for name in [*metrics, *fields, *computed]]
    print_table([*columns, *added], rows, empty=empty or "There are no such runs.")


def _settings(view: SavedView) -> list[str]:
    return [column.removeprefix("config.") for column in view.columns if column.startswith("config.")]


def _last_metrics(view: SavedView) -> list[str]:
    found = (re.fullmatch(r"metric\.(.+)\.last", column) for column in view.columns)
    return [match[1] for match in found if match]


def _last(run: dict[str, Any], metric: str) -> str:
    extent = run["metrics"].get(metric)
    return number(extent["last"]) if extent else MISSING


def _setting(run: dict[str, Any], field: str) -> str:
    return clean(run["config"][field]) if field in run["config"] else MISSING

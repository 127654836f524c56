"""`arcadia runs`, `show` and `tag`: list runs, show one, and change its tags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from arcadia._sync.runs import Run
from arcadia._sync.transport import Transport
from arcadia.cli import options
from arcadia.cli.options import Json, ProjectFilter, Quiet, RunReference, RunReferences, explain_empty, open_client
from arcadia.cli.output import (
    MISSING,
    age,
    clean,
    count,
    duration,
    joined,
    local_time,
    number,
    percent,
    plural,
    print_fields,
    print_json,
    print_table,
    say,
    state,
    steps,
)
from arcadia.cli.output import show as show_text
from arcadia.names import read_run_page
from arcadia.records.server import SavedView


def print_details(run: Run) -> None:
    """Print a run: one field per line."""
    data = run.data
    print_fields(
        [
            ("Run", f"{run.id} {run.name}"),
            ("State", state(run.state)),
            ("Reason", run.state_reason or ""),
            ("Failure", run.failure or ""),
            ("Method" if data["method"] else "Environment", " on ".join(filter(None, (data["method"], run.env)))),
            ("Project", run.project),
            ("Progress", _progress(run)),
            ("Speed", _speed(run)),
            ("Return", _returns(run)),
            ("Worker", run.worker or ""),
            ("Queue", f"{run.queue}, priority {run.priority}" if run.queue else ""),
            ("Tags", joined(run.tags) if run.tags else ""),
            ("Parent", _parent(run)),
            ("Study", f"{data['study']['id']} {data['study']['name']}" if data["study"] else ""),
            ("Created", local_time(data["created_at"])),
            ("Started", local_time(data["started_at"]) if data["started_at"] else ""),
            ("Finished", local_time(data["finished_at"]) if data["finished_at"] else ""),
            ("Notes", run.notes),
            ("Warnings", "\n".join(run.warnings)),
            ("Page", run.url),
        ]
    )


def _progress(run: Run) -> str:
    share = "" if run.total_steps is None else f"{percent(run.step, run.total_steps)}: "
    return f"{share}step {steps(run.step, run.total_steps)}, {count(run.frames)} frames"


def _speed(run: Run) -> str:
    trained = f"trained for {duration(run.trained_seconds)}" if run.trained_seconds else ""
    speed = f"{run.steps_per_second:,.0f} steps/s" if run.steps_per_second else ""
    left = f"{duration(run.seconds_left)} left" if run.seconds_left is not None else ""
    return ", ".join(text for text in (speed, left, trained) if text)


def _returns(run: Run) -> str:
    if run.last_return is None:
        return ""
    return f"{number(run.last_return)} (best {number(run.best_return)}) after {count(run.episodes)} episodes"


def _parent(run: Run) -> str:
    parent = run.data["parent"]
    if not parent:
        return ""
    name = "a run of another project" if parent["run_id"] is None else f"run {parent['run_id']}"
    return f"{name} at step {count(parent['step'])}"


def print_groups(
    transport: Transport,
    filters: Mapping[str, Any],
    by: str,
    values: Sequence[str],
    sort: str,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """Print the groups of runs with equal values."""
    page = transport.get("/run-groups", **filters, by=by, value=list(values), sort=sort, limit=limit)
    groups: list[dict[str, Any]] = page["items"]
    if as_json:
        print_json(groups)
        return
    columns = ["GROUP*", "RUNS>", *(f"{value.upper()}>" for value in values), "AGE>"]
    rows = [
        [
            group["label"],
            str(group["runs"]),
            *(_spread(group["statistics"][value]) for value in values),
            age(group["newest"]),
        ]
        for group in groups
    ]
    print_table(columns, rows, empty="There are no such runs.")


def _spread(statistic: Mapping[str, Any]) -> str:
    if statistic["mean"] is None:
        return MISSING
    spread = "" if statistic["std"] is None else f" (SD {number(statistic['std'])})"
    return f"{number(statistic['mean'])}{spread}"


MAIN_PROJECT = "Main"
STATES = ("queued", "starting", "running", "paused", "finished", "failed", "stopped")


References = Annotated[
    list[str], typer.Argument(metavar="[RUNS...]", help=options.RUNS_HELP, autocompletion=options.complete_run)
]
States = Annotated[list[str], typer.Option("--state", help="Only runs in this state. May be repeated.")]
Tags = Annotated[list[str], typer.Option(help="Only runs with this tag. May be repeated.")]
Methods = Annotated[list[str], typer.Option(help="Only runs of this method, such as paac.")]
Environments = Annotated[list[str], typer.Option(help="Only runs in this environment, such as ALE/Pong-v5.")]
Search = Annotated[str, typer.Option(help="Search for text in name, notes, tags, environment or failure.")]
OfStudy = Annotated[int | None, typer.Option(help="Only runs of this study.")]
Archived = Annotated[bool, typer.Option("--archived", help="Show archived runs instead of the others.")]
View = Annotated[
    str,
    typer.Option(
        "--view",
        metavar="NAME",
        help="Use the filters, order, groups and columns of a saved view. Other options override or extend them.",
        autocompletion=options.complete_view,
    ),
]
FILTER_HELP = 'Filter expression, such as "learning_rate < 1e-3 and best_return > 15".'
Filter = Annotated[str, typer.Option(metavar="EXPRESSION", help=FILTER_HELP)]
SORT_HELP = "Columns, fields or expressions, separated by commas. A leading - sorts in descending order."
Sort = Annotated[str | None, typer.Option(help=SORT_HELP)]
GROUP_HELP = "Group runs by columns and fields, such as method,env,learning_rate."
Groups = Annotated[str, typer.Option(metavar="NAMES", help=GROUP_HELP)]
ShownMetrics = Annotated[
    list[str], typer.Option(help="Also show the last value of a metric.", autocompletion=options.complete_metric)
]
ShownFields = Annotated[
    list[str], typer.Option(help="Also show a field of the configuration.", autocompletion=options.complete_setting)
]
COMPUTE_HELP = "Also show a calculation. May be repeated."
Computed = Annotated[list[str], typer.Option(metavar="NAME=EXPRESSION", help=COMPUTE_HELP)]
Limit = Annotated[int, typer.Option(min=1, help="Maximum number of runs or groups.")]


def runs(
    ctx: typer.Context,
    references: References = [],  # noqa: B006 - Typer copies it
    states: States = [],  # noqa: B006
    tag: Tags = [],  # noqa: B006
    method: Methods = [],  # noqa: B006
    env: Environments = [],  # noqa: B006
    search: Search = "",
    study: OfStudy = None,
    project: ProjectFilter = "",
    archived: Archived = False,
    view: View = "",
    filter: Filter = "",  # noqa: A002 - the option's name
    sort: Sort = None,
    group_by: Groups = "",
    metric: ShownMetrics = [],  # noqa: B006
    config: ShownFields = [],  # noqa: B006
    compute: Computed = [],  # noqa: B006
    limit: Limit = 20,
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
    ids = [run.id for run in client.runs(*references)] if references else None
    given = {"id": ids, "state": states, "tag": tag, "algorithm": method, "env": env, "text": search, "study": study}
    given |= {"project": "" if references else project, "archived": archived, "filter": filter, "sort": sort}
    filters = {**(saved.run_query if saved else {}), **{name: value for name, value in given.items() if value}}
    sort = filters.pop("sort", None)
    if group_by:
        values = ["return", "best_return", *(f'last("{name}")' for name in metric)]
        print_groups(client.transport, filters, group_by, values, sort or "-newest", limit, as_json=as_json)
        return
    columns = {"compute": compute, "metric": metric, "include": [f"config.{field}" for field in config]}
    filters |= {"sort": sort or "-created_at", **columns}
    listed = client.transport.pages("/runs", limit=limit, read=read_run_page, **filters)
    if as_json:
        print_json(listed)
    elif quiet:
        show_text("\n".join(str(run["id"]) for run in listed))
    else:
        empty = "" if listed else explain_empty(client, "run", {"project": "" if references else project})
        _print(listed, metric, config, [column.partition("=")[0].strip() for column in compute], empty)
        if len(listed) == limit:
            say(f"The list ends after {plural(limit, 'run')}. Show more with --limit.")


def show(
    ctx: typer.Context,
    run: RunReference,
    config: Annotated[bool, typer.Option("--config", help="Print the configuration as JSON.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run with its state, results, workers and warnings."""
    chosen = open_client(ctx).run(run)
    if config or as_json:
        print_json(chosen.config if config else chosen.data)
    else:
        print_details(chosen)


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
    tagged = open_client(ctx).runs(*runs)
    if add or remove:
        for run in tagged:
            run.edit(tags=[tag for tag in dict.fromkeys([*run.tags, *add]) if tag not in remove])
    elif as_json:
        for run in tagged:
            run.refresh()
    if as_json:
        print_json([run.data for run in tagged])
        return
    for run in tagged:
        show_text(f"{run.id} {run.name}: {joined(run.tags)}")


def _print(
    listed: list[dict[str, Any]], metrics: list[str], fields: list[str], computed: list[str], empty: str
) -> None:
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
        for run in listed
    ]
    added = [f"{name}>" for name in [*metrics, *fields, *computed]]
    print_table([*columns, *added], rows, empty=empty or "There are no such runs.")


def _settings(view: SavedView) -> list[str]:
    return [column.removeprefix("config.") for column in view.columns if column.startswith("config.")]


def _last_metrics(view: SavedView) -> list[str]:
    return [match[1] for column in view.columns if (match := re.fullmatch(r"metric\.(.+)\.last", column))]


def _last(run: dict[str, Any], metric: str) -> str:
    extent = run["metrics"].get(metric)
    return number(extent["last"]) if extent else MISSING


def _setting(run: dict[str, Any], field: str) -> str:
    return clean(run["config"][field]) if field in run["config"] else MISSING

"""`arcadia open`, `usage`, `workers`, `executors`, `projects` and `move`: the server and what it has."""

from __future__ import annotations

import webbrowser
from typing import Annotated, Any

import typer
from rich.text import Text

from arcadia._sync.projects import Project
from arcadia.cli import options
from arcadia.cli.options import RUNS_HELP, Json, Yes, open_client
from arcadia.cli.output import (
    age,
    clean,
    confirm,
    number,
    plural,
    print_fields,
    print_json,
    print_table,
    say,
    show,
    state,
)
from arcadia.notebook import format_size

app = typer.Typer(help="List, create, rename, merge and delete projects.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[
    str,
    typer.Argument(metavar="PROJECT", help="Name of the project.", autocompletion=options.complete_project),
]
TextOption = Annotated[str | None, typer.Option("--text", help="Text of its page, as Markdown.")]


@app.command("list")
def list_projects(ctx: typer.Context, as_json: Json = False) -> None:
    """List projects with their runs, studies and reports."""
    projects = open_client(ctx).projects()
    if as_json:
        print_json([project.data for project in projects])
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
        for project in projects
    ]
    print_table(["PROJECT*", "RUNS>", "ACTIVE>", "STUDIES>", "REPORTS>", "LAST ACTIVITY>"], rows, empty="")


@app.command("show")
def show_project(ctx: typer.Context, project: Name, as_json: Json = False) -> None:
    """Show a project with its text and its best agents."""
    chosen = open_client(ctx).project(project)
    if as_json:
        print_json(chosen.data)
        return
    pinned = chosen.data["pinned_report"]
    print_fields(
        [
            ("Project", chosen.name),
            ("Runs", f"{chosen.run_count:,}, {chosen.active_run_count:,} active"),
            ("Studies", f"{chosen.study_count:,}"),
            ("Reports", f"{chosen.report_count:,}"),
            ("Pinned", f"{pinned['id']} {pinned['title']}" if pinned else ""),
            ("Text", clean(chosen.text or "")),
        ]
    )
    _print_agents(chosen)


@app.command()
def create(ctx: typer.Context, project: Name, text: TextOption = None, as_json: Json = False) -> None:
    """Create a project."""
    created = open_client(ctx).create_project(project, text or "")
    print_json(created.data) if as_json else show(f"Created project {created.name}.")


@app.command("train-on")
def train_on(
    ctx: typer.Context,
    project: Name,
    executor: Annotated[str, typer.Argument(metavar="EXECUTOR", help="workers, slurm, ray, or default.")],
    as_json: Json = False,
) -> None:
    """Choose where the runs of a project train by default."""
    chosen = open_client(ctx).project(project).set_executor(None if executor == "default" else executor)
    where = chosen.executor or "the default of the server"
    print_json(chosen.data) if as_json else show(f"Runs of {chosen.name} train on {where}.")


@app.command()
def rename(
    ctx: typer.Context,
    project: Name,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    as_json: Json = False,
) -> None:
    """Rename a project."""
    chosen = open_client(ctx).project(project)
    before = chosen.name
    chosen.edit(name=name)
    print_json(chosen.data) if as_json else show(f"Renamed project {before} to {chosen.name}.")


@app.command()
def merge(
    ctx: typer.Context,
    project: Name,
    into: Annotated[
        str,
        typer.Argument(metavar="INTO", help="Project to move to.", autocompletion=options.complete_project),
    ],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Move everything of a project into another one, and delete it."""
    client = open_client(ctx)
    source, target = client.project(project), client.project(into)
    confirm(f"Merge project {source.name} with {plural(source.run_count, 'run')} into {target.name}?", yes)
    merged = source.merge(target.name)
    print_json(merged.data) if as_json else show(f"Merged project {source.name} into {merged.name}.")


@app.command()
def delete(ctx: typer.Context, project: Name, yes: Yes = False) -> None:
    """Delete an empty project."""
    chosen = open_client(ctx).project(project)
    confirm(f"Delete project {chosen.name}?", yes)
    chosen.delete()
    show(f"Deleted project {chosen.name}.")


def move(
    ctx: typer.Context,
    items: Annotated[
        list[str],
        typer.Argument(
            metavar="RUNS... PROJECT",
            help=f"{RUNS_HELP} The last argument is the project.",
            autocompletion=options.complete_run,
        ),
    ],
    studies: Annotated[
        list[int],
        typer.Option("--study", metavar="STUDY", help="Study with its runs.", autocompletion=options.complete_study),
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
    show(f"Moved {' and '.join(parts) or 'nothing'} to {project.name}.")


def _print_agents(project: Project) -> None:
    rows: list[list[Text | str]] = [
        [agent["env_title"], number(agent["best_return"]), str(agent["run_id"]), agent["run_name"]]
        for agent in project.best_agents
    ]
    if rows:
        print_table(["BEST AGENT IN", "RETURN>", "RUN>", "NAME*"], rows, empty="")


def executors(
    ctx: typer.Context,
    default: Annotated[
        str | None, typer.Option(metavar="NAME", help="Choose where runs train by default, such as slurm.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List where runs can train, and choose the default."""
    client = open_client(ctx)
    choices = client.executors() if default is None else client.set_default_executor(default)
    if as_json:
        print_json([choice.data for choice in choices])
        return
    rows = [[choice.name, choice.title, "default" if choice.is_default else ""] for choice in choices]
    print_table(["NAME", "TITLE*", ""], rows, empty="")


def usage(
    ctx: typer.Context,
    by: Annotated[
        list[str], typer.Option(metavar="GROUP", help="month, project, person, study or kind; can be repeated.")
    ] = ["month", "project"],  # noqa: B006 - typer copies it
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Such as 2026-12-01T00:00:00Z.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Such as 2027-01-01T00:00:00Z.")] = None,
    project: options.ProjectFilter = "",
    as_json: Json = False,
) -> None:
    """Show core and GPU hours of runs and jobs."""
    listed = open_client(ctx).usage(*by, since=since, until=until, project=project or None)
    if as_json:
        print_json([row.data for row in listed])
        return
    rows = [
        [*(clean(str(row.data[group] or "-")) for group in by), number(row.core_hours), number(row.gpu_hours)]
        for row in listed
    ]
    columns = [*(f"{group.upper()}*" for group in by), "CORE HOURS>", "GPU HOURS>"]
    print_table(columns, rows, empty="No run or job has used a worker or a scheduler in this time.")


def caps(
    ctx: typer.Context,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Set the caps of this project.")] = None,
    person: Annotated[int | None, typer.Option(metavar="ID", help="Set the caps of this person.")] = None,
    max_runs: Annotated[int | None, typer.Option(metavar="N", help="Runs that train at once.")] = None,
    core_hours: Annotated[float | None, typer.Option(metavar="H", help="Core hours in a month.")] = None,
    gpu_hours: Annotated[float | None, typer.Option(metavar="H", help="GPU hours in a month.")] = None,
    as_json: Json = False,
) -> None:
    """Show caps and what is used of them. With --project or --person, set theirs: what is left out has no limit."""
    client = open_client(ctx)
    limits: dict[str, Any] = {"max_runs": max_runs, "core_hours": core_hours, "gpu_hours": gpu_hours}
    if project is None and person is None:
        if any(value is not None for value in limits.values()):
            raise typer.BadParameter("give --project NAME or --person ID with the caps")
        listed = client.caps()
    else:
        listed = client.set_cap(project=project, person=person, **limits)
    if as_json:
        print_json([cap.data for cap in listed])
        return
    rows = [
        [
            cap.kind,
            clean(cap.name),
            _of(cap.runs, cap.max_runs),
            _of(cap.used_core_hours, cap.core_hours),
            _of(cap.used_gpu_hours, cap.gpu_hours),
        ]
        for cap in listed
    ]
    columns = ["", "NAME*", "RUNS>", "CORE HOURS>", "GPU HOURS>"]
    print_table(columns, rows, empty="Nobody has a cap.")


def _of(used: float, cap: float | None) -> str:
    return "no limit" if cap is None else f"{number(used)} of {number(cap)}"


workers_app = typer.Typer(
    help="List workers, and choose whether they take work.", invoke_without_command=True, rich_markup_mode=None
)
WorkerName = Annotated[str, typer.Argument(metavar="WORKER", help="Name of the worker.")]
_DESIRED = {"work": "takes work", "pause": "paused", "drain": "drained"}


@workers_app.callback()
def workers(ctx: typer.Context, as_json: Json = False) -> None:
    """List the workers with their hosts and runs."""
    if ctx.invoked_subcommand is not None:
        return
    listed = [worker.data for worker in open_client(ctx).workers()]
    if as_json:
        print_json(listed)
        return
    rows = [
        [
            worker["name"],
            clean(worker.get("host_name") or worker["host"]),
            state(worker["state"]),
            _DESIRED[worker["desired"]] if worker.get("desired", "work") != "work" else "",
            worker["queue"],
            str(worker["run_id"] or ("another project" if worker["state"] == "busy" else "")),
            str(worker["cores"]),
            format_size(worker["memory_bytes"]),
            " ".join(worker.get("labels", [])),
            age(worker["last_seen_at"]),
        ]
        for worker in listed
    ]
    columns = ["NAME*", "HOST*", "STATE", "", "QUEUE", "RUN>", "CORES>", "MEMORY>", "LABELS*", "SEEN>"]
    print_table(columns, rows, empty="No worker has connected. Start one with `arcadia worker`.")
    if others := [worker["name"] for worker in listed if worker["is_other_build"] and worker["state"] != "gone"]:
        say(f"Another build than the server's: {', '.join(others)}. Upgrade them.")


@workers_app.command("forecasts")
def show_forecasts(
    ctx: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=365, help="Stated times in this many days until now.")] = 30,
    as_json: Json = False,
) -> None:
    """Show how often waiting runs started by the time that was forecast."""
    found = open_client(ctx).start_forecasts(days)
    if as_json:
        print_json(found.data)
        return
    error = found.relative_error
    print_fields(
        [
            ("If nobody added work ahead", _describe_score(found.undisturbed)),
            ("All forecasts", _describe_score(found.all)),
            ("Error of the wait", "" if error is None else f"{100 * error:.0f} % in the median"),
            ("Still waiting", f"{found.waiting:,}"),
            ("Without a stated time", f"{found.without_time:,}"),
        ]
    )
    say("Forecasts say that a run starts by the stated time in 9 of 10 cases, if nobody adds work ahead.")


def _describe_score(score: dict[str, Any]) -> str:
    text = f"{score['on_time']:,} of {score['forecasts']:,} started by the stated time"
    share, low, high = (
        None if score[name] is None else f"{100 * score[name]:.0f} %" for name in ("share", "low", "high")
    )
    if share is None:
        return f"{text}, too few for a share"
    return f"{text}: {share}, {f'95 % interval {low} to {high}' if low else 'on too few days for an interval'}"


@workers_app.command("pause")
def pause_worker(ctx: typer.Context, worker: WorkerName, as_json: Json = False) -> None:
    """Let a worker finish its work and take no other."""
    _edit_worker(ctx, worker, "pause", as_json=as_json)


@workers_app.command("drain")
def drain_worker(ctx: typer.Context, worker: WorkerName, as_json: Json = False) -> None:
    """Let a worker save its run, put it back in the queue with its jobs, and take no other."""
    _edit_worker(ctx, worker, "drain", as_json=as_json)


@workers_app.command("resume")
def resume_worker(ctx: typer.Context, worker: WorkerName, as_json: Json = False) -> None:
    """Let a paused or drained worker take work again."""
    _edit_worker(ctx, worker, "work", as_json=as_json)


@workers_app.command("label")
def label_worker(
    ctx: typer.Context,
    worker: WorkerName,
    labels: Annotated[list[str], typer.Argument(metavar="[LABELS...]", help="Labels. None removes all.")] = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Replace the labels of a worker's host, which runs may need."""
    edited = open_client(ctx).edit_worker(worker, labels=labels)
    print_json(edited.data) if as_json else show(f"Host {edited.host}: {', '.join(edited.labels) or 'no labels'}.")


@workers_app.command("rename")
def rename_host(
    ctx: typer.Context,
    worker: WorkerName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of its host. Empty for its own.")],
    as_json: Json = False,
) -> None:
    """Rename a worker's host on pages and in lists."""
    edited = open_client(ctx).edit_worker(worker, host_name=name)
    print_json(edited.data) if as_json else show(f"Host {edited.host}: {edited.host_name or 'its own name'}.")


@workers_app.command("remove")
def remove_worker(ctx: typer.Context, worker: WorkerName) -> None:
    """Remove a worker that is gone from the list."""
    open_client(ctx).remove_worker(worker)
    show(f"Removed worker {worker}.")


def _edit_worker(ctx: typer.Context, name: str, desired: str, *, as_json: bool) -> None:
    edited = open_client(ctx).edit_worker(name, desired)
    print_json(edited.data) if as_json else show(f"Worker {edited.name}: {_DESIRED[edited.desired]}.")


def open_page(
    ctx: typer.Context,
    references: Annotated[
        list[str], typer.Argument(metavar="[RUNS...]", help=RUNS_HELP, autocompletion=options.complete_run)
    ] = [],  # noqa: B006 - Typer copies it
    study: Annotated[int | None, typer.Option(help="Open the page of this study.")] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the URL.")] = False,
) -> None:
    """Open a run or a comparison in the browser. Without one, print the URL."""
    client = open_client(ctx)
    runs = client.runs(*references) if references else []
    if study is not None:
        url = client.study(study).url
    elif len(runs) > 1:
        url = f"{client.url}/compare?runs={','.join(str(run.id) for run in runs)}"
    else:
        url = runs[0].url if runs else f"{client.url}/"
    if print_only or not webbrowser.open(url):
        show(url)

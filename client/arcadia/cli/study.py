"""`arcadia study`: start, watch and control studies, which are many runs that answer one question."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from arcadia._sync.client import Client
from arcadia._sync.studies import Study
from arcadia.cli.options import (
    Executor,
    Interruptible,
    JobOptions,
    Json,
    Needs,
    NewProject,
    ProjectFilter,
    StudyId,
    Wait,
    Yes,
    complete_field,
    complete_preset,
    open_client,
    parse_numbers,
    parse_value,
    read_needs,
)
from arcadia.cli.output import (
    clean,
    confirm,
    console,
    counts,
    interruptible,
    interval,
    is_terminal,
    number,
    plural,
    print_json,
    print_json_line,
    print_table,
    refresh,
    say,
    state,
    table,
)
from arcadia.cli.output import show as show_text
from arcadia.errors import ArcadiaError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FINISHED = "finished"
COLUMNS = ["POINT>", "VALUES*", "MEAN>", "95 %", "N>", "FAILED>"]
_RANGE = re.compile(r"(log|uniform)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)")


def build_request(
    *,
    file: Path | None,
    preset: str | None,
    axes: list[str],
    points: int | None,
    seeds: str | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return the specification. Options that are None keep the value of the file."""
    if (file is None) == (preset is None):
        raise ArcadiaError("Give either a file or --preset.")
    given: dict[str, Any] = {"preset": preset, "name": preset}
    specification = given if file is None else read_specification(file)
    if axes:
        specification["axes"] = [*specification.get("axes", []), *map(parse_axis, axes)]
    if seeds is not None:
        specification["seeds"] = int(seeds) if seeds.isdecimal() else seeds
    if points is not None:
        specification |= {"sampler": "random", "points": points}
    return specification | {name: value for name, value in options.items() if value is not None}


def read_specification(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        specification: dict[str, Any] = tomllib.loads(file.read_text())
        json.dumps(specification)
    except OSError as error:
        raise ArcadiaError(f"{file} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ArcadiaError(f"{file} is not TOML: {error}") from None
    except (TypeError, UnicodeDecodeError) as error:
        raise ArcadiaError(f"{file} contains values that no study can have, such as a date: {error}") from None
    return specification


def parse_axis(text: str) -> dict[str, Any]:
    """Return an axis from FIELD=VALUES, where values are a list or a range such as log(1e-4,1e-2)."""
    field, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise ArcadiaError(f"--axis {text}: give a field with its values, such as learning_rate=1e-4,3e-4")
    if match := _RANGE.fullmatch(values.strip()):
        kind = "log_uniform" if match[1] == "log" else "uniform"
        return {"field": field.strip(), kind: [parse_value(match[2]), parse_value(match[3])]}
    return {"field": field.strip(), "values": [parse_value(value.strip()) for value in values.split(",")]}


app = typer.Typer(help="Start and control studies.", no_args_is_help=True, rich_markup_mode=None)

File = Annotated[Path | None, typer.Argument(metavar="[FILE.toml]", help="Specification; see docs/studies.md.")]
Preset = Annotated[str | None, typer.Option(help="Base preset for all runs.", autocompletion=complete_preset)]
Axes = Annotated[
    list[str],
    typer.Option(
        "--axis",
        metavar="FIELD=VALUES",
        help="Values such as learning_rate=1e-4,3e-4. With --points also ranges: log(1e-4,1e-2), uniform(0.9,0.99).",
        autocompletion=complete_field,
    ),
]
Points = Annotated[int | None, typer.Option(help="Number of points to draw if an axis is a range.")]
Seeds = Annotated[str | None, typer.Option(help="Number of seeds (5), or numbers such as 1-5.")]
Until = Annotated[
    str | None,
    typer.Option(help="certain: add seeds to undecided points until a test decides.", metavar="certain"),
]
MaxSeeds = Annotated[int | None, typer.Option(help="Maximum number of seeds per point with --until. Default: 20.")]
Name = Annotated[str | None, typer.Option(help="Name of the study.")]
ConfirmSteps = Annotated[
    int | None, typer.Option(metavar="N", help="Confirm the total number of steps of the preview.")
]


@app.command()
def watch(
    ctx: typer.Context,
    study: StudyId,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between updates.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON after each change.")] = False,
) -> None:
    """Watch a study until it ends. Exit with 0 only if it is finished; Ctrl-C does not stop it."""
    chosen = open_client(ctx).study(study)
    with interruptible(continues(chosen)):
        if is_terminal() and not as_json:
            _watch_screen(chosen, interval)
        else:
            _watch_lines(chosen, interval, as_json=as_json)
    raise typer.Exit(int(chosen.state != FINISHED))


@app.command()
def preview(
    ctx: typer.Context,
    file: File = None,
    preset: Preset = None,
    axes: Axes = [],  # noqa: B006 - Typer copies it
    points: Points = None,
    seeds: Seeds = None,
    until: Until = None,
    max_seeds: MaxSeeds = None,
    name: Name = None,
    executor: Executor = None,
    job_option: JobOptions = [],  # noqa: B006 - Typer copies it
    need: Needs = [],  # noqa: B006
    interruptible: Interruptible = False,
    as_json: Json = False,
) -> None:
    """Show the size and cost of a study without starting it."""
    options = {
        "until": until,
        "max_seeds": max_seeds,
        "name": name,
        "executor": executor,
        "job_options": job_option or None,
        "needs": read_needs(need) or None,
        "interruptible": interruptible or None,
    }
    body = build_request(file=file, preset=preset, axes=axes, points=points, seeds=seeds, options=options)
    preview_study(open_client(ctx), body, as_json=as_json)


@app.command()
def start(
    ctx: typer.Context,
    file: File = None,
    preset: Preset = None,
    axes: Axes = [],  # noqa: B006 - Typer copies it
    points: Points = None,
    seeds: Seeds = None,
    until: Until = None,
    max_seeds: MaxSeeds = None,
    name: Name = None,
    executor: Executor = None,
    job_option: JobOptions = [],  # noqa: B006 - Typer copies it
    need: Needs = [],  # noqa: B006
    interruptible: Interruptible = False,
    confirm_steps: ConfirmSteps = None,
    project: NewProject = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Start a study from a file, or from a preset and axes."""
    client = open_client(ctx)
    options = {
        "until": until,
        "max_seeds": max_seeds,
        "name": name,
        "executor": executor,
        "job_options": job_option or None,
        "needs": read_needs(need) or None,
        "interruptible": interruptible or None,
    }
    body = build_request(file=file, preset=preset, axes=axes, points=points, seeds=seeds, options=options)
    start_study(client, body, confirm_steps=confirm_steps, project=project, wait=wait, as_json=as_json)


@app.command("list")
def list_studies(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of studies.")] = 20,
    project: ProjectFilter = "",
    as_json: Json = False,
) -> None:
    """List studies, newest first."""
    studies = open_client(ctx).studies(limit, project=project or None)
    if as_json:
        print_json([study.data for study in studies])
        return
    rows: list[list[Text | str]] = []
    for study in studies:
        points, runs = f"{study.data['points']:,}", counts(study.run_counts)
        rows.append([str(study.id), study.name, state(study.state), points, runs, number(study.best_mean)])
    print_table(["ID>", "NAME*", "STATE", "POINTS>", "RUNS", "BEST>"], rows, empty="There are no studies.")


@app.command()
def show(ctx: typer.Context, study: StudyId, as_json: Json = False) -> None:
    """Show a study's points with their means over seeds."""
    chosen = open_client(ctx).study(study)
    print_json(chosen.data) if as_json else print_study(chosen)


@app.command()
def pause(ctx: typer.Context, study: StudyId, as_json: Json = False) -> None:
    """Pause a study with its queued and active runs."""
    _finish(open_client(ctx).study(study).pause(), as_json)


@app.command()
def resume(ctx: typer.Context, study: StudyId, as_json: Json = False) -> None:
    """Resume a paused or stopped study."""
    _finish(open_client(ctx).study(study).resume(), as_json)


@app.command()
def stop(ctx: typer.Context, study: StudyId, yes: Yes = False, as_json: Json = False) -> None:
    """Stop a study with all runs that have not ended."""
    chosen = open_client(ctx).study(study)
    confirm(f"Stop study {chosen.id} {chosen.name} with all its runs?", yes)
    _finish(chosen.stop(), as_json)


@app.command()
def extend(
    ctx: typer.Context,
    study: StudyId,
    seeds: Annotated[int | None, typer.Option(help="Number of seeds to add.")] = None,
    best: Annotated[int | None, typer.Option(help="Add seeds only to this many of the best points.")] = None,
    of: Annotated[str, typer.Option(metavar="NUMBERS", help="Add seeds only to these points, such as 0,4.")] = "",
    points: Annotated[int | None, typer.Option(help="Number of random points to add.")] = None,
    as_json: Json = False,
) -> None:
    """Add seeds or random points to a study."""
    chosen = open_client(ctx).study(study)
    remaining = chosen.data["runs_remaining"] if chosen.state == "stopped" else 0
    chosen.extend(seeds=seeds, best=best, of=parse_numbers(of) if of else None, points=points)
    _finish(chosen, as_json)
    if remaining:
        say(f"The study was stopped. It continues, including {plural(remaining, 'run')} not created before.")


@app.command()
def delete(ctx: typer.Context, study: StudyId, yes: Yes = False) -> None:
    """Delete a study that is not running. Its runs are kept."""
    chosen = open_client(ctx).study(study)
    confirm(f"Delete study {chosen.id} {chosen.name}? Its runs are kept.", yes)
    chosen.delete()
    show_text(f"Deleted study {chosen.id}.")


def preview_study(client: Client, body: dict[str, Any], *, as_json: bool) -> None:
    """Show the size and the cost of a study."""
    cost = client.transport.post("/studies/preview", body)
    if as_json:
        print_json(cost)
        return
    show_text(format_cost(cost))
    if cost["refused"]:
        raise ArcadiaError(cost["refused"])
    if cost["confirm"]:
        show_text(f"Start it with --confirm-steps {cost['steps']}.")


def start_study(
    client: Client,
    body: dict[str, Any],
    *,
    confirm_steps: int | None,
    project: str | None,
    wait: bool,
    as_json: bool,
) -> None:
    """Start a study and show it. With `wait`, exit with 1 unless it finishes."""
    _check_cost(client, body, confirm_steps)
    # The server validates what the file contains.
    body |= {"confirm_steps": confirm_steps, "project": project}
    study = Study(client.transport, client.transport.post("/studies", body))
    if not as_json:
        show_text(f"{summarize(study)}\n{study.url}")
    if wait:
        with interruptible(continues(study)):
            study.wait(progress=not as_json)
        say(summarize(study))
    if as_json:
        print_json(study.data)
    elif wait:
        print_study(study)
    raise typer.Exit(int(wait and study.state != FINISHED))


def _check_cost(client: Client, body: dict[str, Any], confirm_steps: int | None) -> None:
    """Print the cost, and raise ArcadiaError if it must be confirmed first."""
    cost = client.transport.post("/studies/preview", body)
    say(format_cost(cost))
    if cost["refused"]:
        raise ArcadiaError(cost["refused"])
    if cost["confirm"] and confirm_steps is None:
        raise ArcadiaError(f"{cost['confirm']}; add --confirm-steps {cost['steps']} to start it")


def _finish(study: Study, as_json: bool) -> None:
    print_json(study.data) if as_json else show_text(summarize(study))


def format_cost(preview: dict[str, Any]) -> str:
    """Return the size and the cost of a study as one line."""
    least, most = preview.get("min_runs", preview["runs"]), preview["runs"]
    runs = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    workers = f"{preview['concurrent_runs']} worker{'s' if preview['concurrent_runs'] > 1 else ''}"
    if preview["seconds"] is None:
        unmeasured = " or ".join(preview["unmeasured"])
        time = f"; the duration is unknown, since no run of {unmeasured} has trained here"
    else:
        time = f", about {preview['seconds'] / 3_600:,.1f} h on {workers} at the rate measured here"
    return f"{preview['points']:,} points, {runs} runs, {preview['steps']:,} steps{time}"


def summarize(study: Study) -> str:
    """Return a study as one line."""
    return f"Study {study.id} {study.name} is {study.state}: {counts(study.run_counts) or 'no runs'}"


def print_study(study: Study) -> None:
    """Print a study with its points, the best first."""
    show_text(summarize(study))
    if study.state_reason:
        show_text(study.state_reason)
    if study.verdict:
        show_text(study.verdict)
    console().print(table(COLUMNS, point_rows(study)))


def point_rows(study: Study) -> list[list[str]]:
    """Return the rows of the points, the best mean first."""
    rows = []
    for point in sorted(study.data["table"], key=lambda point: (point["mean"] is None, -(point["mean"] or 0))):
        mean, bounds = number(point["mean"]), interval(point["low"], point["high"])
        rows.append([str(point["number"]), point["label"], mean, bounds, str(point["n"]), str(point["failed"])])
    return rows


def continues(study: Study) -> str:
    """Return the message for Ctrl-C while a study is waited for."""
    return f"Study {study.id} continues. Watch with: arcadia study watch {study.id}"


def _watch_screen(study: Study, interval: float) -> None:
    screen = console()
    with Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
        for _ in refresh(study.refresh, interval):
            heading = Text.assemble((f"Study {study.id} ", "bold"), clean(study.name), "  ", state(study.state))
            rows = point_rows(study)
            # As many of the best points as fit.
            shown = rows[: max(1, screen.height - 5)]
            more = [Text(f"and {len(rows) - len(shown)} more points", style="dim")] if len(shown) < len(rows) else []
            content = Group(heading, Text(counts(study.run_counts)), table(COLUMNS, shown), *more)
            live.update(content, refresh=True)
            if study.has_ended:
                return


def _watch_lines(study: Study, interval: float, *, as_json: bool) -> None:
    """Report each change: as JSON, or on stderr before the final table."""
    last = ""
    for _ in refresh(study.refresh, interval):
        if (line := summarize(study)) != last:
            print_json_line(study.data) if as_json else say(line)
            last = line
        if study.has_ended:
            break
    if not as_json:
        print_study(study)

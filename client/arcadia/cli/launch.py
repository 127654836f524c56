"""`arcadia launch` and `presets`: start runs from a preset or a configuration."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia.cli import options
from arcadia.cli.control import finish_new_runs
from arcadia.cli.options import (
    Changes,
    Executor,
    Interruptible,
    JobOptions,
    Json,
    Needs,
    NewProject,
    Quiet,
    Wait,
    open_client,
    parse_changes,
    parse_numbers,
    read_needs,
)
from arcadia.cli.output import (
    clean,
    count,
    duration,
    name_with_seed,
    number,
    plural,
    print_fields,
    print_json,
    print_table,
    show,
)
from arcadia.errors import ArcadiaError
from arcadia.notebook import format_size
from arcadia.records.run import RunForecast


def print_forecast(forecast: RunForecast, seeds: int, *, as_json: bool) -> None:
    """Print what a run needs, and when it could start. It is the forecast of one run, also for several seeds."""
    if as_json:
        print_json(forecast.data)
        return
    memory, gpu_memory = forecast.memory_bytes, forecast.gpu_memory_bytes
    print_fields(
        [
            ("Runs", f"{seeds}, with this forecast for each" if seeds > 1 else ""),
            ("Duration", _duration(forecast)),
            ("Memory", format_size(round(memory)) if memory else ""),
            ("GPU memory", format_size(round(gpu_memory)) if gpu_memory else ""),
            ("Cores", number(forecast.cores) if forecast.cores else ""),
            ("Start", _start(forecast)),
            ("Warning", " ".join(forecast.warnings)),
        ]
    )


def _duration(forecast: RunForecast) -> str:
    if forecast.seconds is None:
        return "unknown, because no run like it has been measured here"
    measured = f"{plural(forecast.measured_runs, 'run')} of {forecast.measured_on}"
    return f"about {duration(forecast.seconds)}, measured from {measured}"


def _start(forecast: RunForecast) -> str:
    worker = f"{forecast.queue.upper()} worker"
    if forecast.executor not in (None, "workers"):
        return forecast.start_unknown or ""
    if forecast.workers == 0:
        return f"unknown, because no {worker} is connected"
    wait, ahead = forecast.starts_in_seconds, forecast.runs_ahead
    if wait == 0 and ahead < forecast.idle_workers:
        return f"immediately, because a {worker} is free"
    position = f"after {plural(ahead, 'queued run')}" if ahead else "next in the queue"
    if wait is None:
        return f"{position}, at an unknown time. {forecast.start_unknown or ''}".strip()
    by = forecast.starts_by_seconds
    limit = "" if by is None else f", in 9 of 10 cases within {duration(by)}"
    return f"{position}, in about {duration(wait)}{limit}, if nobody adds work ahead"


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def launch(
    ctx: typer.Context,
    preset: Annotated[
        str, typer.Argument(metavar="PRESET", help="Preset to start from.", autocompletion=options.complete_preset)
    ] = "",
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Start from a configuration in a JSON or TOML file instead.")
    ] = None,
    changes: Changes = [],  # noqa: B006 - Typer copies it
    seed: Annotated[str, typer.Option(metavar="SEEDS", help="Seeds, such as 3, 1-5 or 1,4: one run for each.")] = "",
    name: Annotated[str, typer.Option(help="Name. With several seeds, the seed is appended.")] = "",
    tag: Annotated[list[str], typer.Option(help="Tag. Repeat it for several tags.")] = [],  # noqa: B006
    notes: Annotated[str, typer.Option(help="Notes, as Markdown.")] = "",
    queue: Annotated[str | None, typer.Option(help="cpu or gpu. Default: according to the configured device.")] = None,
    executor: Executor = None,
    job_option: JobOptions = [],  # noqa: B006
    need: Needs = [],  # noqa: B006
    interruptible: Interruptible = False,
    priority: Annotated[int, typer.Option(help="Runs with a higher priority start first.")] = 0,
    project: NewProject = None,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Show the needs and the expected start of a run, without launching it.")
    ] = False,
    wait: Wait = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Launch runs from a preset, one per seed."""
    if bool(preset) == (config is not None):
        raise typer.BadParameter("give either a preset or --config FILE; `arcadia presets` lists the presets")
    client = open_client(ctx)
    base = None if config is None else read_config(config)
    fields = parse_changes(changes)
    seeds = parse_numbers(seed) if seed else []
    if forecast:
        wanted = {"config": base, "queue": queue, "executor": executor, "priority": priority, "needs": read_needs(need)}
        expected = client.forecast(preset or None, **{**wanted, **fields})
        print_forecast(expected, len(seeds), as_json=as_json)
        return
    where = {"queue": queue, "executor": executor, "priority": priority, "project": project}
    shared: dict[str, Any] = {"config": base, "tags": tag, "notes": notes, "job_options": job_option, **where}
    shared |= {"needs": read_needs(need), "interruptible": interruptible}
    runs = [client.launch(preset or None, **{**shared, **fields, **own}) for own in per_seed(name, seeds)]
    finish_new_runs(runs, wait=wait, quiet=quiet, as_json=as_json)


def per_seed(name: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Return the name and the seed of each run: one per seed, or a single one."""
    if len(seeds) > 1 and name:
        return [{"name": name_with_seed(name, seed), "seed": seed} for seed in seeds]
    return [{"name": name or None, "seed": seed} for seed in seeds] or [{"name": name or None}]


def read_config(file: Path) -> dict[str, Any]:
    """Return the configuration in a JSON or TOML file."""
    try:
        text = file.read_text()
        values = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise ArcadiaError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ArcadiaError(f"{file} is not {'TOML' if file.suffix == '.toml' else 'JSON'}: {error}") from None
    if not isinstance(values, dict):
        raise ArcadiaError(f"{file} has no configuration: it must be an object of fields and values.")
    return values


def presets(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="[PRESET]", help="Preset to show.", autocompletion=options.complete_preset)
    ] = "",
    as_json: Json = False,
) -> None:
    """List the presets, or show the configuration of one."""
    listed = [preset.data for preset in open_client(ctx).presets()]
    if name:
        chosen = [preset for preset in listed if preset["name"] == name]
        if not chosen:
            raise ArcadiaError(f"There is no preset {name}. `arcadia presets` lists them.")
        print_json(chosen[0]) if as_json else _print(chosen[0])
    elif as_json:
        print_json(listed)
    else:
        rows = [[each["name"], each["title"], each["method"], count(each["config"]["total_steps"])] for each in listed]
        print_table(["NAME", "TITLE*", "METHOD", "STEPS>"], rows, empty="There are no presets.")


def _print(preset: dict[str, Any]) -> None:
    print_fields([("Preset", preset["name"]), ("Title", preset["title"]), ("Source", preset["source"])])
    show("")
    print_fields((field, clean(value)) for field, value in preset["config"].items())

"""The `arcadia study` command: start, show and control studies of a running backend."""

import argparse
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from backend.refusals import RefusedError
from backend.studies.client import Client

_RANGE = re.compile(r"(log|uniform)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)")


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="arcadia study", description="Start and control studies: many runs that answer one question."
    )
    default = os.environ.get("ARCADIA_BACKEND_URL", "http://127.0.0.1:8000")
    parser.add_argument("--backend-url", default=default, help="URL of the backend (default: ARCADIA_BACKEND_URL)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    start = commands.add_parser("start", help="start a study from a file, or from a preset and axes")
    start.add_argument("file", nargs="?", type=Path, metavar="FILE.toml", help="see docs/studies.md")
    start.add_argument("--preset", help="base preset for all runs")
    start.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="FIELD=VALUES",
        help="field and values, such as learning_rate=1e-4,3e-4; with --points also a range, such as "
        "learning_rate=log(1e-4,1e-2) or gamma=uniform(0.9,0.99)",
    )
    start.add_argument("--points", type=int, help="number of points to draw if an axis is a range")
    start.add_argument("--seeds", help="number of seeds (5), or a range (1-5)")
    start.add_argument("--name", help="name of the study")
    start.add_argument(
        "--confirm-steps", type=int, metavar="N", help="confirm the total number of steps of the preview"
    )
    start.add_argument("--preview", action="store_true", help="only show the number of runs, steps and hours")
    commands.add_parser("list", help="list the newest studies")
    show = commands.add_parser("show", help="show a study's points with their means over seeds")
    pause = commands.add_parser("pause", help="pause a study with its queued and active runs")
    resume = commands.add_parser("resume", help="resume a paused or stopped study")
    stop = commands.add_parser("stop", help="stop a study with all runs that have not ended")
    extend = commands.add_parser("extend", help="add seeds or random points to a study")
    for command in (show, pause, resume, stop, extend):
        command.add_argument("id", type=int, metavar="ID", help="id of the study")
    show.add_argument("--json", action="store_true", help="print the API response")
    extend.add_argument("--seeds", type=int, help="number of seeds to add")
    extend.add_argument("--best", type=int, help="add seeds only to this many points with the best mean return")
    extend.add_argument("--points", type=int, help="number of random points to add")
    return parser.parse_args(arguments)


def build_request(options: argparse.Namespace) -> dict[str, Any]:
    """Return the specification from the options. The backend validates it."""
    if (options.file is None) == (options.preset is None):
        raise RefusedError("give either a file or --preset")
    found = _read(options.file) if options.file is not None else {"preset": options.preset, "name": options.preset}
    if options.axis:
        found["axes"] = [*found.get("axes", []), *map(_parse_axis, options.axis)]
    if options.seeds is not None:
        found["seeds"] = int(options.seeds) if options.seeds.isdecimal() else options.seeds
    if options.points is not None:
        found |= {"sampler": "random", "points": options.points}
    return found if options.name is None else {**found, "name": options.name}


def _read(file: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(file.read_text())
        json.dumps(found)
    except OSError as error:
        raise RefusedError(f"{file} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise RefusedError(f"{file} is not TOML: {error}") from None
    except (TypeError, UnicodeDecodeError) as error:
        raise RefusedError(f"{file} contains values that no study can have, such as a date: {error}") from None
    return found


def _parse_axis(text: str) -> dict[str, Any]:
    field, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise RefusedError(f"--axis {text}: give a field with its values, such as learning_rate=1e-4,3e-4")
    if match := _RANGE.fullmatch(values.strip()):
        kind = "log_uniform" if match[1] == "log" else "uniform"
        return {"field": field.strip(), kind: [_parse_value(match[2]), _parse_value(match[3])]}
    return {"field": field.strip(), "values": [_parse_value(value.strip()) for value in values.split(",")]}


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def format_cost(preview: dict[str, Any]) -> str:
    """Format the cost of a study as one line."""
    workers = f"{preview['concurrent_runs']} worker{'s' if preview['concurrent_runs'] > 1 else ''}"
    if preview["seconds"] is None:
        unmeasured = " or ".join(preview["unmeasured"])
        time = f"; the duration is unknown, since no run of {unmeasured} has trained here"
    else:
        time = f", about {preview['seconds'] / 3_600:,.1f} h on {workers} at the rate measured here"
    return f"{preview['points']:,} points, {preview['runs']:,} runs, {preview['steps']:,} steps{time}"


def _start(client: Client, options: argparse.Namespace) -> None:
    body = build_request(options)
    preview = client.call("POST", "/studies/preview", body)
    print(format_cost(preview))
    if preview["refused"]:
        raise RefusedError(preview["refused"])
    if preview["confirm"] and options.confirm_steps is None:
        flag = f"--confirm-steps {preview['steps']}"
        if not options.preview:
            raise RefusedError(f"{preview['confirm']}; add {flag} to start it")
        print(f"Start it with {flag}.")
    if options.preview:
        return
    study = client.call("POST", "/studies", {**body, "confirm_steps": options.confirm_steps})
    print(f"Study {study['id']} is running: {client.url}/studies/{study['id']}")


def _print_list(client: Client) -> None:
    for study in client.call("GET", "/studies")["items"]:
        print(_summary_line(study))


def _extend(client: Client, options: argparse.Namespace) -> None:
    before = client.call("GET", f"/studies/{options.id}")
    additions = {name: getattr(options, name) for name in ("seeds", "best", "points")}
    body = {name: value for name, value in additions.items() if value is not None}
    print(_summary_line(client.call("POST", f"/studies/{options.id}/extend", body)))
    if before["state"] == "stopped" and (remaining := before["runs_remaining"]):
        runs = f"{remaining:,} runs" if remaining > 1 else "1 run"
        print(f"The study was stopped. It continues, including {runs} not created before.")


def _summary_line(study: dict[str, Any]) -> str:
    counted = ", ".join(f"{count:,} {state}" for state, count in study["runs"].items() if count)
    return f"#{study['id']}  {study['state']:8}  {study['name']}  ({counted})"


def _print_study(study: dict[str, Any]) -> None:
    print(_summary_line(study))
    if study["state_reason"]:
        print(study["state_reason"])
    width = max(len(point["label"]) for point in study["table"]) if study["table"] else 0
    for point in sorted(study["table"], key=lambda point: (point["mean"] is None, -(point["mean"] or 0))):
        mean = "–" if point["mean"] is None else f"{point['mean']:,.4g}"
        interval = "" if point["low"] is None else f"  [{point['low']:,.4g}, {point['high']:,.4g}]"
        print(f"{point['number']:>5}  {point['label']:{width}}  {mean:>10}{interval}  n = {point['n']}")


def main() -> int:
    """Run the command, and return its exit status."""
    options = parse_arguments(sys.argv[1:])
    try:
        client = Client(options.backend_url)
        if options.command == "start":
            _start(client, options)
        elif options.command == "list":
            _print_list(client)
        elif options.command == "show":
            study = client.call("GET", f"/studies/{options.id}")
            print(json.dumps(study, indent=2)) if options.json else _print_study(study)
        elif options.command == "extend":
            _extend(client, options)
        else:
            print(_summary_line(client.call("POST", f"/studies/{options.id}/{options.command}")))
    except RefusedError as error:
        print(f"arcadia study: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`arcadia study`: start a study from a file, look at it, steer it; a client of a backend that runs."""

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
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="arcadia study", description="Answer a question with many runs.")
    default = os.environ.get("ARCADIA_BACKEND_URL", "http://127.0.0.1:8000")
    parser.add_argument("--backend-url", default=default, help="ARCADIA_BACKEND_URL: where the backend answers")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    start = commands.add_parser("start", help="start a study from a file, or from a preset and axes")
    start.add_argument("file", nargs="?", type=Path, metavar="FILE.toml", help="see docs/studies.md")
    start.add_argument("--preset", help="the preset that all runs begin from")
    start.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="FIELD=VALUES",
        help="as learning_rate=1e-4,3e-4, or with --points learning_rate=log(1e-4,1e-2) or gamma=uniform(0.9,0.99)",
    )
    start.add_argument("--points", type=int, help="how many points to draw where an axis is a range")
    start.add_argument("--seeds", help="how many (5), or which (1-5)")
    start.add_argument("--name", help="what the study is called")
    start.add_argument("--confirm-steps", type=int, metavar="N", help="the preview's total where it must be confirmed")
    start.add_argument("--preview", action="store_true", help="only tell how many runs, steps and hours it would be")
    commands.add_parser("list", help="list the newest studies")
    show = commands.add_parser("show", help="show a study's points with their means over seeds")
    pause = commands.add_parser("pause", help="make no more runs, and pause those that wait or train")
    resume = commands.add_parser("resume", help="go on")
    stop = commands.add_parser("stop", help="make no more runs, and stop those that have not ended")
    extend = commands.add_parser("extend", help="go on with more seeds, or with more random points")
    for command in (show, pause, resume, stop, extend):
        command.add_argument("id", type=int, metavar="ID", help="the study's number")
    show.add_argument("--json", action="store_true", help="as the API answers")
    extend.add_argument("--seeds", type=int, help="how many more seeds")
    extend.add_argument("--best", type=int, help="of so many points, those with the largest mean return")
    extend.add_argument("--points", type=int, help="how many more random points")
    return parser.parse_args(arguments)


def asked(options: argparse.Namespace) -> dict[str, Any]:
    """The study that the command line asks for; the backend says what is wrong with it."""
    if (options.file is None) == (options.preset is None):
        raise RefusedError("name a file, or a preset by --preset: one of the two")
    found = _read(options.file) if options.file is not None else {"preset": options.preset, "name": options.preset}
    if options.axis:
        found["axes"] = [*found.get("axes", []), *map(_axis, options.axis)]
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
        raise RefusedError(f"{file} holds what no study has, such as a date: {error}") from None
    return found


def _axis(written: str) -> dict[str, Any]:
    field, equals, values = written.partition("=")
    if not equals or not values.strip():
        raise RefusedError(f"--axis {written}: write a field and its values, as learning_rate=1e-4,3e-4")
    if drawn := _RANGE.fullmatch(values.strip()):
        way = "log_uniform" if drawn[1] == "log" else "uniform"
        return {"field": field.strip(), way: [_value(drawn[2]), _value(drawn[3])]}
    return {"field": field.strip(), "values": [_value(value.strip()) for value in values.split(",")]}


def _value(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return written


def cost_in_words(preview: dict[str, Any]) -> str:
    """What a study would cost, as one line."""
    places = f"{preview['places']} worker{'s' if preview['places'] > 1 else ''}"
    if preview["seconds"] is None:
        untried = " or ".join(preview["unmeasured"])
        time = f"; how long that takes is not known, since no run of {untried} has trained here"
    else:
        time = f", about {preview['seconds'] / 3_600:,.1f} h on {places} at the rate measured here"
    return f"{preview['points']:,} points, {preview['runs']:,} runs, {preview['steps']:,} steps{time}"


def _start(client: Client, options: argparse.Namespace) -> None:
    body = asked(options)
    preview = client.call("POST", "/studies/preview", body)
    print(cost_in_words(preview))
    if preview["refused"]:
        raise RefusedError(preview["refused"])
    if preview["confirm"] and options.confirm_steps is None:
        flag = f"--confirm-steps {preview['steps']}"
        if not options.preview:
            raise RefusedError(f"{preview['confirm']}; add {flag} to start them")
        print(f"It starts with {flag}.")
    if options.preview:
        return
    study = client.call("POST", "/studies", {**body, "confirm_steps": options.confirm_steps})
    print(f"Study {study['id']} is running: {client.url}/studies/{study['id']}")


def _print_list(client: Client) -> None:
    for study in client.call("GET", "/studies")["items"]:
        print(_line(study))


def _extend(client: Client, options: argparse.Namespace) -> None:
    before = client.call("GET", f"/studies/{options.id}")
    more = {name: getattr(options, name) for name in ("seeds", "best", "points")}
    body = {name: value for name, value in more.items() if value is not None}
    print(_line(client.call("POST", f"/studies/{options.id}/extend", body)))
    if before["state"] == "stopped" and (unmade := before["unmade"]):
        runs = f"{unmade:,} runs that were" if unmade > 1 else "1 run that was"
        print(f"It had been stopped and goes on, also with {runs} not made yet.")


def _line(study: dict[str, Any]) -> str:
    counted = ", ".join(f"{count:,} {state}" for state, count in study["runs"].items() if count)
    return f"#{study['id']}  {study['state']:8}  {study['name']}  ({counted})"


def _print_study(study: dict[str, Any]) -> None:
    print(_line(study))
    if study["state_reason"]:
        print(study["state_reason"])
    width = max(len(point["label"]) for point in study["table"]) if study["table"] else 0
    for point in sorted(study["table"], key=lambda point: (point["mean"] is None, -(point["mean"] or 0))):
        mean = "–" if point["mean"] is None else f"{point['mean']:,.4g}"
        interval = "" if point["low"] is None else f"  [{point['low']:,.4g}, {point['high']:,.4g}]"
        print(f"{point['number']:>5}  {point['label']:{width}}  {mean:>10}{interval}  n = {point['n']}")


def main() -> int:
    """Run a command."""
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
            print(_line(client.call("POST", f"/studies/{options.id}/{options.command}")))
    except RefusedError as error:
        print(f"arcadia study: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`arcadia compare`: differences, results and verdict of several runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.formats import MISSING, clean, duration, interval, number
from arcadia.cli.options import GroupBy, Json, RunReferences
from arcadia.cli.output import print_json, print_table, say, show, state
from arcadia.comparison import Comparison

# Values of a field are listed up to this many runs; the JSON has all.
MAX_COLUMNS = 6


def compare(
    ctx: typer.Context,
    runs: RunReferences,
    group_by: GroupBy = "",
    at: Annotated[
        int | None, typer.Option(help="Step of the verdict. Default: the last that enough runs reached.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare runs: results, differing fields, and a verdict."""
    client = open_client(ctx)
    found = client.compare(client.runs(*runs), group_by=group_by, at=at)
    if as_json:
        print_json({"comparison": found.data, "verdict": found.verdict_data})
        return
    _print_results(found.data)
    show("")
    _print_differences(found.data)
    show("")
    _print_verdict(found)


def _print_results(comparison: dict[str, Any]) -> None:
    summaries = {each["run_id"]: each for each in comparison["summary"]}
    rows = [
        [
            str(run["id"]),
            run["label"],
            state(run["state"]),
            f"{run['step']:,}",
            number(run["last_return"]),
            number(run["best_return"]),
            duration(summaries[run["id"]]["wall_seconds"] or None),
        ]
        for run in comparison["runs"]
    ]
    print_table(["ID>", "RUN*", "STATE", "STEP>", "RETURN>", "BEST>", "TIME>"], rows, empty="There are no runs.")


def _print_differences(comparison: dict[str, Any]) -> None:
    ids = [str(run["id"]) for run in comparison["runs"]]
    different = [each for each in comparison["differences"] if not each["same"]]
    if len(ids) > MAX_COLUMNS:
        rows = [[each["field"], _distinct(each["values"])] for each in different]
        print_table(["FIELD", "VALUES*"], rows, empty="The configurations are the same.")
        return
    rows = [[each["field"], *(_value(each["values"], run_id) for run_id in ids)] for each in different]
    print_table(["FIELD*", *(f"{run_id}>" for run_id in ids)], rows, empty="The configurations are the same.")


def _value(values: dict[str, Any], run_id: str) -> str:
    return clean(values[run_id]) if run_id in values else MISSING


def _distinct(values: dict[str, Any]) -> str:
    return ", ".join(dict.fromkeys(clean(value) for value in values.values()))


def _print_verdict(comparison: Comparison) -> None:
    verdict = comparison.verdict_data
    if verdict["message"]:
        say(verdict["message"])
        return
    rows = [
        [
            group["name"],
            str(group["n"]),
            number(group["mean"]["value"]) if group["mean"] else MISSING,
            interval(group["mean"]["low"], group["mean"]["high"]) if group["mean"] else "",
        ]
        for group in verdict["standings"]
    ]
    print_table(["GROUP*", "N>", "MEAN>", "95 %"], rows, empty="There are no groups.")
    show(comparison.verdict)

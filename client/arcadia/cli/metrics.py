"""`arcadia metrics`, `compare` and `figure`: points, comparisons and charts of runs."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia._sync.runs import Run
from arcadia.cli import options
from arcadia.cli.options import GroupBy, Json, RunReference, RunReferences, open_client
from arcadia.cli.output import (
    MISSING,
    clean,
    console,
    duration,
    interval,
    number,
    print_json,
    print_table,
    say,
    show,
    state,
)
from arcadia.errors import ArcadiaError
from arcadia.names import read_run_page
from arcadia.tables import Comparison

# Bits of the dots of a braille character, from top to bottom, left and right.
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
BLANK = 0x2800
BLOCKS = "▁▂▃▄▅▆▇█"

Point = tuple[float, float]


def draw_chart(xs: Sequence[float], ys: Sequence[float], width: int, height: int) -> list[str]:
    """Return the lines of a chart with the ends of both axes. It has no lines if no value is finite."""
    points = [(x, y) for x, y in zip(xs, ys, strict=True) if isfinite(x) and isfinite(y)]
    if not points:
        return []
    low, high = min(y for _, y in points), max(y for _, y in points)
    labels = [number(high), *[""] * (height - 2), number(low)]
    margin = max(map(len, labels))
    columns = max(1, width - margin - 2)
    rows = _draw_dots(points, columns, height)
    lines = [f"{label:>{margin}} ┤{row}" for label, row in zip(labels, rows, strict=True)]
    first, last = f"{points[0][0]:,.0f}", f"{points[-1][0]:,.0f}"
    return [*lines, f"{'':{margin}}  {first}{last:>{max(1, columns - len(first))}}"]


def draw_sparkline(ys: Sequence[float], width: int) -> str:
    """Return the values as a row of blocks, each the mean of neighboring values."""
    values = [y for y in ys if isfinite(y)]
    if not values:
        return ""
    groups = min(width, len(values))
    edges = [i * len(values) // groups for i in range(groups + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, high = min(means), max(means)
    return "".join(BLOCKS[round(_share(mean, low, high) * (len(BLOCKS) - 1))] for mean in means)


def _draw_dots(points: Sequence[Point], columns: int, rows: int) -> list[str]:
    """Return a grid of braille characters with a line through the points."""
    grid = [[BLANK] * columns for _ in range(rows)]
    places = _to_dots(points, 2 * columns, 4 * rows)
    for start, end in pairwise(places if len(places) > 1 else places * 2):
        for x, y in _line(start, end):
            grid[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    return ["".join(map(chr, row)) for row in grid]


def _to_dots(points: Sequence[Point], width: int, height: int) -> list[tuple[int, int]]:
    """Return the dot of each point. The first row is at the top."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    return [
        (round(_share(x, left, right) * (width - 1)), round((1 - _share(y, low, high)) * (height - 1)))
        for x, y in points
    ]


def _line(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the dots of a straight line."""
    (x, y), (x_end, y_end) = start, end
    steps = max(abs(x_end - x), abs(y_end - y), 1)
    return [(x + round((x_end - x) * i / steps), y + round((y_end - y) * i / steps)) for i in range(steps + 1)]


def _share(value: float, low: float, high: float) -> float:
    """Return the position of a value between two others, from 0 to 1. It is the middle if both are equal."""
    return (value - low) / (high - low) if high > low else 0.5


CHART_LINES = 12
# Maximum number of metrics in one request.
MAX_NAMES = 50


def metrics(
    ctx: typer.Context,
    run: RunReference,
    names: Annotated[
        list[str], typer.Argument(metavar="[NAMES...]", help="Metrics.", autocompletion=options.complete_metric)
    ] = [],  # noqa: B006 - Typer copies it
    x: Annotated[str, typer.Option("--x", help="X axis: step, frames, time or epoch.")] = "step",
    buckets: Annotated[
        int, typer.Option(min=1, max=5_000, help="Merge points into buckets if there are more than this.")
    ] = 500,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the points as CSV, or without NAMES the list.")] = False,
    as_json: Json = False,
) -> None:
    """List the metrics of a run, or draw some as charts."""
    client = open_client(ctx)
    chosen = client.run(run)
    if not names:
        _list(client, chosen, as_csv=as_csv, as_json=as_json)
        return
    data = client.transport.get(f"/runs/{chosen.id}/metrics", names=",".join(names), x=x, buckets=buckets)
    if unknown := [name for name in names if name not in data["series"]]:
        known = "`arcadia metrics RUN` lists its metrics"
        raise ArcadiaError(f"Run {chosen.id} has not reported {', '.join(unknown)}; {known}.")
    if as_json:
        print_json(data)
    elif as_csv:
        _print_csv(data["series"], x)
    else:
        _draw(data["series"], x)


def _list(client: Client, run: Run, *, as_csv: bool, as_json: bool) -> None:
    names = run.metric_names()
    extents: dict[str, Any] = {}
    for start in range(0, len(names), MAX_NAMES):
        params = {"id": run.id, "metric": names[start : start + MAX_NAMES]}
        archived = run.is_archived or None
        for item in read_run_page(client.transport.get("/runs", **params, archived=archived)):
            extents |= item["metrics"]
    if as_json:
        print_json(extents)
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["metric", "last", "min", "max"])
        writer.writerows([name, *(extents[name][part] for part in ("last", "min", "max"))] for name in extents)
        return
    rows = [[name, *(number(extents[name][part]) for part in ("last", "min", "max"))] for name in extents]
    print_table(["METRIC*", "LAST>", "MIN>", "MAX>"], rows, empty=f"Run {run.id} has reported no metric yet.")


def _print_csv(series: dict[str, Any], x: str) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["metric", x, "mean", "min", "max", "count"])
    for name, points in series.items():
        columns = (points[column] for column in ("x", "mean", "min", "max", "count"))
        writer.writerows([name, *row] for row in zip(*columns, strict=True))


def _draw(series: dict[str, Any], x: str) -> None:
    for name, points in series.items():
        show(clean(f"{name} by {x}, {points['total']:,} points"))
        values = [float("nan") if value is None else float(value) for value in points["mean"]]
        lines = draw_chart(points["x"], values, console().width, CHART_LINES)
        show("\n".join(lines)) if lines else say("No value is a finite number.")


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
    comparison = client.compare(client.runs(*runs), group_by=group_by, at=at)
    if as_json:
        print_json({"comparison": comparison.data, "verdict": comparison.verdict_data})
        return
    _print_results(comparison.data)
    show("")
    _print_differences(comparison.data)
    show("")
    _print_verdict(comparison)


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
            str(group["failed"]),
            number(group["mean"]["value"]) if group["mean"] else MISSING,
            interval(group["mean"]["low"], group["mean"]["high"]) if group["mean"] else "",
        ]
        for group in verdict["standings"]
    ]
    print_table(["GROUP*", "N>", "FAILED>", "MEAN>", "95 %"], rows, empty="There are no groups.")
    show(comparison.verdict)


def figure(
    ctx: typer.Context,
    runs: RunReferences,
    name: Annotated[
        str, typer.Option(help="Figure, such as curves or profile.", autocompletion=options.complete_figure)
    ] = "curves",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File: .json, .csv, .html, .png, .svg or .pdf.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric of curves.", autocompletion=options.complete_metric)
    ] = None,
    group_by: GroupBy = "",
    x: Annotated[
        str | None, typer.Option("--x", help="X axis: step, frames, time or epoch; in a scatter, a number of each run.")
    ] = None,
    smoothing: Annotated[float | None, typer.Option(help="Smoothing: weight of the past, from 0 to 0.99.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Another parameter of the figure, such as y=best_return. Repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Save a figure of runs, as the pages show it."""
    if (out is None) != as_json:
        raise typer.BadParameter("give either --out FILE or --json")
    client = open_client(ctx)
    params: dict[str, Any] = {"metric": metric, "group_by": group_by or None, "x": x, "smoothing": smoothing}
    params |= _read_options(option or [])
    drawn = client.figure(name, runs, **params)
    if out is None:
        print_json(drawn.data)
    else:
        show(str(drawn.save(out)))


def _read_options(options: list[str]) -> dict[str, str]:
    """Return the parameters in NAME=VALUE. Raise BadParameter for other texts."""
    pairs = [option.partition("=") for option in options]
    for name, equals, _value in pairs:
        if not name or not equals:
            raise typer.BadParameter("write each --option as NAME=VALUE, such as y=best_return")
    return {name: value for name, _equals, value in pairs}

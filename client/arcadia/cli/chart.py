"""Charts in the terminal: a line of braille dots, and a row of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from arcadia.cli.formats import number

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

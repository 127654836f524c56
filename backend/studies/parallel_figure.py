"""Parallel coordinates of a study: a line for each point through its place on each axis, ending at its mean return."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from backend.figures.drawing import as_text
from backend.figures.schemas import Figure
from backend.metrics.points import Floats
from backend.runs.names import format_value
from backend.studies.labels import axis_title, axis_value_label, point_label
from backend.studies.points import point_values
from backend.studies.results import Point
from backend.studies.specification import Axis, Specification

# From the worst fifth of the points to the best, told apart by colour-blind eyes too.
COLORS = ("#8d99ae", "#56b4e9", "#009e73", "#e69f00", "#d55e00")
NAMES = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "best fifth")
# Values of one axis that are all written beside it.
MOST_WRITTEN = 8


def parallel_figure(asked: Specification, points: Sequence[Point]) -> Figure:
    """Lines in five colours by their means; points without a finished run are left out."""
    scored = sorted((point for point in points if point.mean is not None), key=lambda point: point.mean or 0.0)
    if not scored:
        return Figure(data=[], layout={})
    means = np.array([point.mean for point in scored], np.float64)
    columns = [*(_heights(axis, [p.draw[n] for p in scored]) for n, axis in enumerate(asked.axes)), _scaled(means)]
    heights = np.stack(columns, axis=1)
    # Of fewer than five points the best is named so too.
    fifth = (np.arange(1, len(scored) + 1) * len(COLORS) - 1) // len(scored)
    traces = [_lines(asked, scored, heights, np.flatnonzero(fifth == number), number) for number in np.unique(fifth)]
    titles = [*(axis_title(axis) for axis in asked.axes), "Mean return"]
    places = [*range(len(titles))]
    layout = {
        "xaxis": {
            "tickmode": "array",
            "tickvals": places,
            "ticktext": [as_text(title) for title in titles],
            "range": [-0.2, len(titles) - 0.6],
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis": {"visible": False, "range": [-0.08, 1.08], "fixedrange": True},
        "hovermode": "closest",
        "annotations": [note for place, axis in enumerate(asked.axes) for note in _values(axis, place, scored)]
        + _ends(len(asked.axes), [format_value(float(f"{end:.4g}")) for end in (means.min(), means.max())]),
    }
    return Figure(data=[trace.to_plotly_json() for trace in traces], layout=layout)


def _heights(axis: Axis, places: Sequence[float]) -> Floats:
    """Where places stand on an axis, from 0 to 1: numbers as they are or by their logarithms, all else in its order."""
    if axis.values is not None and (not axis.numeric or len(axis.values) <= MOST_WRITTEN):
        return np.array(places, np.float64) / max(1, len(axis.values) - 1)
    numbers = np.array([place if axis.values is None else axis.values[int(place)] for place in places], np.float64)
    return _scaled(np.log(numbers) if axis.log else numbers)


def _scaled(numbers: Floats) -> Floats:
    low, high = numbers.min(), numbers.max()
    return (numbers - low) / (high - low) if high > low else np.full(len(numbers), 0.5)


def _lines(
    asked: Specification, points: Sequence[Point], heights: Floats, chosen: npt.NDArray[np.intp], number: int
) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    told: list[str | None] = []
    for place in chosen.tolist():
        point = points[place]
        words = as_text(f"{point_label(point_values(asked, point.draw))}: {point.mean:,.6g} (n = {point.n})")
        x += [*range(heights.shape[1]), None]
        y += [*heights[place].tolist(), None]
        told += [words] * heights.shape[1] + [None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": COLORS[number], "width": 1.5},
        marker={"color": COLORS[number], "size": 5},
        opacity=0.8,
        hovertext=told,
        hoverinfo="text",
        name=NAMES[number],
    )


def _values(axis: Axis, place: int, points: Sequence[Point]) -> list[Mapping[str, Any]]:
    """The values beside an axis, or its two ends where they are many."""
    if axis.values is not None and len(axis.values) <= MOST_WRITTEN:
        last = max(1, len(axis.values) - 1)
        return [_note(place, n / last, axis_value_label(axis, n)) for n in range(len(axis.values))]
    if not axis.numeric:
        return []
    numbers = [p.draw[place] if axis.values is None else axis.values[int(p.draw[place])] for p in points]
    return _ends(place, [format_value(float(f"{float(end):.3g}")) for end in (min(numbers), max(numbers))])  # type: ignore[arg-type,type-var]


def _ends(place: int, words: Sequence[str]) -> list[Mapping[str, Any]]:
    return [_note(place, height, text) for height, text in enumerate(words)]


def _note(place: int, height: float, words: str) -> Mapping[str, Any]:
    return {
        "x": place,
        "y": height,
        "text": as_text(words),
        "showarrow": False,
        "xanchor": "left",
        "xshift": 4,
        "yshift": 9,
    }

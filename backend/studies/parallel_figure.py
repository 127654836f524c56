"""Parallel-coordinates figure of a study: one line per point through its values, ending at its mean return."""

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

# Colors from the worst fifth of the points to the best, distinguishable for color-blind readers.
COLORS = ("#8d99ae", "#56b4e9", "#009e73", "#e69f00", "#d55e00")
NAMES = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "best fifth")
# An axis with more values has labels only at its ends.
MAX_LABELED_VALUES = 8


def parallel_figure(spec: Specification, points: Sequence[Point]) -> Figure:
    """Draw the points in five colors by mean return. Points without a finished run are omitted."""
    scored = sorted((point for point in points if point.mean is not None), key=lambda point: point.mean or 0.0)
    if not scored:
        return Figure(data=[], layout={})
    means = np.array([point.mean for point in scored], np.float64)
    columns = [*(_heights(axis, [p.draw[n] for p in scored]) for n, axis in enumerate(spec.axes)), _scale(means)]
    heights = np.stack(columns, axis=1)
    # With fewer than five points, the best one is still in the best fifth.
    fifth = (np.arange(1, len(scored) + 1) * len(COLORS) - 1) // len(scored)
    traces = [_lines(spec, scored, heights, np.flatnonzero(fifth == number), number) for number in np.unique(fifth)]
    titles = [*(axis_title(axis) for axis in spec.axes), "Mean return"]
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
        "annotations": [label for place, axis in enumerate(spec.axes) for label in _value_labels(axis, place, scored)]
        + _end_labels(len(spec.axes), [format_value(float(f"{end:.4g}")) for end in (means.min(), means.max())]),
    }
    return Figure(data=[trace.to_plotly_json() for trace in traces], layout=layout)


def _heights(axis: Axis, places: Sequence[float]) -> Floats:
    """Return positions on an axis, from 0 to 1: linear or logarithmic for numbers, equally spaced for other values."""
    if axis.values is not None and (not axis.numeric or len(axis.values) <= MAX_LABELED_VALUES):
        return np.array(places, np.float64) / max(1, len(axis.values) - 1)
    numbers = np.array([place if axis.values is None else axis.values[int(place)] for place in places], np.float64)
    return _scale(np.log(numbers) if axis.log else numbers)


def _scale(numbers: Floats) -> Floats:
    low, high = numbers.min(), numbers.max()
    return (numbers - low) / (high - low) if high > low else np.full(len(numbers), 0.5)


def _lines(
    spec: Specification, points: Sequence[Point], heights: Floats, chosen: npt.NDArray[np.intp], number: int
) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    texts: list[str | None] = []
    for place in chosen.tolist():
        point = points[place]
        words = as_text(f"{point_label(point_values(spec, point.draw))}: {point.mean:,.6g} (n = {point.n})")
        x += [*range(heights.shape[1]), None]
        y += [*heights[place].tolist(), None]
        texts += [words] * heights.shape[1] + [None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": COLORS[number], "width": 1.5},
        marker={"color": COLORS[number], "size": 5},
        opacity=0.8,
        hovertext=texts,
        hoverinfo="text",
        name=NAMES[number],
    )


def _value_labels(axis: Axis, place: int, points: Sequence[Point]) -> list[Mapping[str, Any]]:
    """Return labels of the values of an axis, or of its ends if there are many."""
    if axis.values is not None and len(axis.values) <= MAX_LABELED_VALUES:
        last = max(1, len(axis.values) - 1)
        return [_annotation(place, n / last, axis_value_label(axis, n)) for n in range(len(axis.values))]
    if not axis.numeric:
        return []
    numbers = [p.draw[place] if axis.values is None else axis.values[int(p.draw[place])] for p in points]
    return _end_labels(place, [format_value(float(f"{float(end):.3g}")) for end in (min(numbers), max(numbers))])  # type: ignore[arg-type,type-var]


def _end_labels(place: int, words: Sequence[str]) -> list[Mapping[str, Any]]:
    return [_annotation(place, height, text) for height, text in enumerate(words)]


def _annotation(place: int, height: float, words: str) -> Mapping[str, Any]:
    return {
        "x": place,
        "y": height,
        "text": as_text(words),
        "showarrow": False,
        "xanchor": "left",
        "xshift": 4,
        "yshift": 9,
    }

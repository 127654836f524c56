"""The importance of each axis of a study: the share of the variance of returns that it explains alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from arcadia_backend.colors import COLORS_PER_CHART, PALETTE
from arcadia_backend.figures.drawing import Figure, as_text
from arcadia_backend.metrics.points import Floats
from arcadia_backend.runs.names import format_value
from arcadia_backend.studies.points import point_values
from arcadia_backend.studies.results import Point
from arcadia_backend.studies.specification import Axis, Specification, axis_title, axis_value_label, point_label

# Number of bins for values drawn from a range.
BINS = 4


def importance_figure(spec: Specification, points: Sequence[Point]) -> Figure:
    """Draw the importances as bars, the largest on top. The figure is empty until enough runs have finished."""
    shares = importances(spec, points)
    if not shares:
        return Figure(data=[], layout={})
    order = sorted(shares, key=lambda number: shares[number])
    bars = go.Bar(
        orientation="h",
        y=[as_text(axis_title(spec.axes[number])) for number in order],
        x=[shares[number] for number in order],
        marker={"color": PALETTE[0]},
        hovertext=[as_text(f"{axis_title(spec.axes[n])}: {100 * shares[n]:.0f} % of the variance") for n in order],
        hoverinfo="text",
        showlegend=False,
    )
    layout = {
        "xaxis": {"title": {"text": "share of the variance (ω²)"}, "range": [0, 1], "tickformat": ".0%"},
        "yaxis": {"type": "category", "automargin": True},
    }
    return Figure(data=[bars.to_plotly_json()], layout=layout)


def importances(spec: Specification, points: Sequence[Point]) -> dict[int, float]:
    """Return ω² of each axis over finished runs. Omit axes with too few of them."""
    runs = [
        (point.draw, run.score) for point in points for run in point.runs if run.is_scored and run.score is not None
    ]
    scores = np.array([score for _, score in runs])
    shares = {}
    for number, axis in enumerate(spec.axes):
        places = np.array([draw[number] for draw, _ in runs])
        if axis.values is None and len(places):
            places = np.searchsorted(np.quantile(places, np.linspace(0, 1, BINS + 1)[1:-1]), places)
        share = omega_squared([scores[places == place] for place in np.unique(places)])
        if share is not None:
            shares[number] = share
    return shares


def omega_squared(groups: Sequence[npt.NDArray[np.float64]]) -> float | None:
    """Return ω² of a one-way analysis of variance (Hays 1963): η² corrected for chance."""
    count, all_scores = len(groups), np.concatenate([*groups]) if groups else np.empty(0)
    if count < 2 or len(all_scores) <= count:
        return None
    mean = all_scores.mean()
    total = float(((all_scores - mean) ** 2).sum())
    between = float(sum(len(group) * (group.mean() - mean) ** 2 for group in groups))
    within = (total - between) / (len(all_scores) - count)
    return max(0.0, (between - (count - 1) * within) / (total + within)) if total > 0 else None


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


RETURN_TITLE = "mean return of the last 100 episodes"
# With more values, the axis has automatic ticks.
MAX_TICKS = 12


def scatter_figure(spec: Specification, points: Sequence[Point], number: int) -> Figure:
    """Draw runs as dots, hollow until finished, and means as diamonds. Colors show the first other non-numeric axis."""
    axis = spec.axes[number]
    color_axis = next((place for place, other in enumerate(spec.axes) if place != number and not other.numeric), None)
    series: dict[str, list[Point]] = {}
    for point in points:
        series.setdefault(
            "" if color_axis is None else axis_value_label(spec.axes[color_axis], point.draw[color_axis]), []
        ).append(point)
    traces: list[go.Scatter] = []
    for place, (name, each) in enumerate(series.items()):
        traces += _series(spec, axis, number, name, each, PALETTE[place % COLORS_PER_CHART])
    layout = {
        "xaxis": {"title": {"text": as_text(axis_title(axis))}, **_x_axis(axis)},
        "yaxis": {"title": {"text": RETURN_TITLE}},
        "hovermode": "closest",
    }
    return Figure(data=[trace.to_plotly_json() for trace in traces], layout=layout)


def _x_axis(axis: Axis) -> Mapping[str, Any]:
    if not axis.numeric:
        return {"type": "category"}
    kind = {"type": "log" if axis.log else "linear"}
    if axis.values is None or len(axis.values) > MAX_TICKS:
        return {**kind, "dtick": 1} if axis.log else kind
    return {
        **kind,
        "tickmode": "array",
        "tickvals": axis.values,
        "ticktext": [format_value(value) for value in axis.values],
    }


def _series(
    spec: Specification, axis: Axis, number: int, name: str, points: Sequence[Point], color: str
) -> list[go.Scatter]:
    def position(point: Point) -> Any:
        place = point.draw[number]
        return (
            (place if axis.values is None else axis.values[int(place)])
            if axis.numeric
            else axis_value_label(axis, place)
        )

    dots = [(position(point), run, point) for point in points for run in point.runs if run.score is not None]
    means = [(position(point), point) for point in points if point.mean is not None]
    shared = {"mode": "markers", "hoverinfo": "text", "legendgroup": name, "name": as_text(name)}
    traces = []
    if dots:
        traces.append(
            go.Scatter(
                x=[x for x, _, _ in dots],
                y=[run.score for _, run, _ in dots],
                marker={
                    "color": color,
                    "size": 6,
                    "opacity": 0.55,
                    "symbol": ["circle" if run.is_scored else "circle-open" for _, run, _ in dots],
                },
                hovertext=[
                    as_text(
                        f"{_point_text(spec, point)}, seed {run.seed}: {run.score:,.6g} ({run.state}, run {run.run_id})"
                    )
                    for _, run, point in dots
                ],
                showlegend=False,
                **shared,
            )
        )
    if means:
        traces.append(
            go.Scatter(
                x=[x for x, _ in means],
                y=[point.mean for _, point in means],
                marker={"color": color, "size": 11, "symbol": "diamond", "line": {"width": 1, "color": "#ffffff"}},
                error_y=_intervals([point for _, point in means], color),
                hovertext=[as_text(_mean_text(spec, point)) for _, point in means],
                showlegend=bool(name),
                **shared,
            )
        )
    return traces


def _intervals(points: Sequence[Point], color: str) -> Mapping[str, Any]:
    ends = [(point.mean or 0, point.low, point.high) for point in points]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - mean for mean, _, high in ends],
        "arrayminus": [0 if low is None else mean - low for mean, low, _ in ends],
        "color": color,
        "thickness": 1.5,
        "width": 4,
    }


def _point_text(spec: Specification, point: Point) -> str:
    return point_label(point_values(spec, point.draw))


def _mean_text(spec: Specification, point: Point) -> str:
    ends = "" if point.low is None else f" [{point.low:,.6g}, {point.high:,.6g}]"
    return f"{_point_text(spec, point)}: {point.mean:,.6g}{ends}, n = {point.n}"

"""Scatter figure of a study: returns of its runs along one axis, with the mean and interval of each point."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from backend.colors import COLORS_PER_CHART, PALETTE
from backend.figures.drawing import as_text
from backend.figures.schemas import Figure
from backend.runs.names import format_value
from backend.studies.labels import axis_title, axis_value_label, point_label
from backend.studies.points import point_values
from backend.studies.results import Point
from backend.studies.specification import Axis, Specification

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

"""Drawing functions of the papers' figures. The paper's numbers are gray, ours are in color."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.colors import COLORS_PER_CHART, PALETTE
from backend.figures.drawing import as_text
from backend.figures.schemas import Figure
from backend.metrics.schemas import Axis
from backend.papers import measured
from backend.papers.definition import StartedStudy
from backend.studies.labels import point_label

THEIRS = "#868e99"


def color_at(place: int) -> str:
    """Return the color of our nth line in a figure."""
    return PALETTE[place % COLORS_PER_CHART]


def dots(name: str, color: str, x: Sequence[Any], y: Sequence[Any], hover: Sequence[str], **more: Any) -> go.Scatter:
    """Return a trace of separate marks."""
    return _scatter(name, x, y, hover, mode="markers", marker={"color": color, "size": 7, "opacity": 0.9, **more})


def line(name: str, color: str, x: Sequence[Any], y: Sequence[Any], hover: Sequence[str], **more: Any) -> go.Scatter:
    """Return a trace of marks joined by a line."""
    shown = {"mode": "lines+markers", "line": {"color": color, "width": 2}, **more}
    return _scatter(name, x, y, hover, **shown)


def _scatter(name: str, x: Sequence[Any], y: Sequence[Any], hover: Sequence[str], **more: Any) -> go.Scatter:
    return go.Scatter(
        x=list(x),
        y=list(y),
        name=as_text(name),
        hovertext=[as_text(each) for each in hover],
        hoverinfo="text",
        **more,
    )


def figure(
    traces: Sequence[go.Scatter | go.Bar], x_title: str, x_axis: dict[str, Any] | None = None, **more: Any
) -> Figure:
    """Return a figure of the traces that are not empty."""
    layout = {
        "xaxis": {"title": {"text": x_title}, "exponentformat": "none", **(x_axis or {})},
        "yaxis": {"rangemode": "tozero"},
        "hovermode": "closest",
        **more,
    }
    return Figure(data=[trace.to_plotly_json() for trace in traces if len(trace.x)], layout=layout)


def curves(session: Session, started: Sequence[StartedStudy], axis: Axis, x_title: str) -> Figure:
    """Draw the mean return of each study point over its seeds, along an axis."""
    traces = []
    for each in started:
        for place, point in enumerate(measured.measured_points(session, each)):
            curve = measured.curve(session, point.run_ids, axis)
            if curve is not None:
                name = point_label(point.values)
                hover = [f"{name}: {y:,.6g}, n = {n}" for y, n in zip(curve.mean, curve.count, strict=True)]
                traces.append(line(name, color_at(place), curve.x.tolist(), curve.mean.tolist(), hover, mode="lines"))
    return figure(traces, x_title)

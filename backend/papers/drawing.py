"""Parts that the papers' figures share: their numbers in grey, ours in colours."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from backend.colors import PALETTE, TOGETHER
from backend.figures.drawing import as_text
from backend.figures.schemas import Figure

THEIRS = "#868e99"


def color_at(place: int) -> str:
    """The colour of ours at a place in a figure."""
    return PALETTE[place % TOGETHER]


def dots(name: str, color: str, x: Sequence[Any], y: Sequence[float], told: Sequence[str], **more: Any) -> go.Scatter:
    """One mark each."""
    return _scatter(name, x, y, told, mode="markers", marker={"color": color, "size": 7, "opacity": 0.7, **more})


def line(name: str, color: str, x: Sequence[Any], y: Sequence[float], told: Sequence[str], **more: Any) -> go.Scatter:
    """Marks joined by a line."""
    return _scatter(name, x, y, told, mode="lines+markers", line={"color": color, "width": 2, **more})


def _scatter(name: str, x: Sequence[Any], y: Sequence[float], told: Sequence[str], **more: Any) -> go.Scatter:
    return go.Scatter(
        x=list(x),
        y=list(y),
        name=as_text(name),
        hovertext=[as_text(each) for each in told],
        hoverinfo="text",
        **more,
    )


def figure(
    traces: Sequence[go.Scatter | go.Bar], x_title: str, x_axis: dict[str, Any] | None = None, **more: Any
) -> Figure:
    """Put those that have something to show on one pair of axes."""
    layout = {
        "xaxis": {"title": {"text": x_title}, **(x_axis or {})},
        "yaxis": {"rangemode": "tozero"},
        "hovermode": "closest",
        **more,
    }
    return Figure(data=[trace.to_plotly_json() for trace in traces if len(trace.x)], layout=layout)

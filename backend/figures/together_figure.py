"""The figure of several metrics of one run: a line each, or their shares of the whole, stacked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import plotly.graph_objects as go

from backend.colors import color_of
from backend.figures.drawing import Look, as_text, plain, significant, x_axis, y_axis
from backend.figures.schemas import Figure
from backend.figures.sizes import BEHIND, size
from backend.figures.smoothing import UNSMOOTHED, Smoothing, smoothed
from backend.metrics.buckets import Curve
from workers.contract.metrics import named


@dataclass(frozen=True)
class MetricCurve:
    """One metric's part of the figure."""

    metric: str
    curve: Curve
    smoothing: Smoothing = UNSMOOTHED


def together_figure(curves: Sequence[MetricCurve], look: Look, *, shares: bool) -> Figure:
    """The figure; `shares` stacks what the metrics are of their sum."""
    layout = go.Layout(
        xaxis=x_axis([each.curve.x for each in curves], look.axis, look.x_log),
        yaxis=_shares_axis() if shares else _y_axis(curves, look),
        hovermode="x unified",
        showlegend=True,
        legend={"traceorder": "normal"},
    )
    # A metric keeps its colour whether or not the others have been reported yet.
    colors = [color_of(place) for place in range(len(curves))]
    names = names_of([each.metric for each in curves])
    data = [
        plain(_trace(each, name, color, shares))
        for each, name, color in zip(curves, names, colors, strict=True)
        if len(each.curve.x)
    ]
    return Figure(data=data, layout=layout.to_plotly_json())


def names_of(metrics: Sequence[str]) -> list[str]:
    """Each metric's title without the words that all titles begin with.

    Prediction queue and Training queue stay as they are; Staleness 0 and Staleness 1 to 3 become 0 and 1 to 3.
    """
    words = [named(metric).title.split() for metric in metrics]
    shared = len(list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))))
    left = [" ".join(each[shared:] or each) for each in words]
    return [name[:1].upper() + name[1:] for name in left]


def _shares_axis() -> dict[str, Any]:
    return {"type": "linear", "tickformat": ".0%", "range": [0, 1]}


def _y_axis(curves: Sequence[MetricCurve], look: Look) -> dict[str, Any]:
    from_zero = {} if look.y_log else {"rangemode": "tozero"}
    return from_zero | y_axis([each.curve.mean for each in curves], look.y_log, _shared_unit(curves))


def _shared_unit(curves: Sequence[MetricCurve]) -> str:
    units = {named(each.metric).unit for each in curves}
    return units.pop() if len(units) == 1 else ""


def _trace(each: MetricCurve, name: str, color: str, shares: bool) -> go.Scatter:
    curve = each.curve
    heights, unit = smoothed(curve, each.smoothing), named(each.metric).unit
    hover: dict[str, Any] = {"hovertemplate": "%{y:.0%}" if shares else "%{y:.4~g}"}
    if unit in BEHIND and not shares:
        hover = {"hovertemplate": "%{text}", "text": [size(height, unit) for height in heights]}
    # A metric without a point where another has one is interpolated there, so that the stack has no gap.
    stacked = {"stackgroup": "whole", "groupnorm": "fraction", "stackgaps": "interpolate"} if shares else {}
    return go.Scatter(
        x=curve.x,
        y=significant(heights),
        name=as_text(name),
        mode="lines+markers" if len(curve.x) == 1 else "lines",
        line={"color": color, "width": 1 if shares else 2},
        uid=each.metric,
        meta={"metric": each.metric},
        **hover,
        **stacked,
    )

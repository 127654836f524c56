"""Figure of several metrics of one run, as lines or as stacked shares of their sum."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import color_of
from backend.database.tables import Run
from backend.figures.drawing import Look, to_figure, x_axis, y_axis
from backend.figures.schemas import Figure
from backend.figures.sizes import SIZE_SUFFIXES, format_size
from backend.figures.smoothing import UNSMOOTHED, Smoothing, read_smoothed_curves, smooth
from backend.metrics.buckets import NO_CURVE, Curve
from backend.metrics.curves import Window
from backend.metrics.models import MetricSeries
from backend.metrics.queries import UNFINISHED, UnknownMetric
from workers.contract.metrics import named


@dataclass(frozen=True)
class MetricCurve:
    """The curve of one metric."""

    metric: str
    curve: Curve
    smoothing: Smoothing = UNSMOOTHED


def draw_together(
    session: Session,
    run: Run,
    metrics: Collection[str],
    look: Look,
    window: Window,
    smoothing: float,
    *,
    shares: bool,
) -> Figure:
    """Return some metrics of one run in one figure."""
    found = select(MetricSeries).where(MetricSeries.name.in_(metrics), MetricSeries.run_id == run.id)
    every = {series.name: series for series in session.scalars(found)}
    if not every and run.state not in UNFINISHED:
        raise UnknownMetric(f"Run {run.id} has reported none of {', '.join(metrics)}.")
    curves = dict(zip(every, read_smoothed_curves(session, [*every.values()], window, smoothing), strict=True))
    return together_figure(
        [MetricCurve(name, *curves.get(name, (NO_CURVE, UNSMOOTHED))) for name in metrics], look, shares=shares
    )


def together_figure(curves: Sequence[MetricCurve], look: Look, *, shares: bool) -> Figure:
    """Return the figure. `shares` stacks each metric as a share of their sum."""
    layout = go.Layout(
        xaxis=x_axis([each.curve.x for each in curves], look.axis, look.x_log),
        yaxis=_shares_axis() if shares else _y_axis(curves, look),
        hovermode="x unified",
        showlegend=True,
        legend={"traceorder": "normal"},
    )
    # A metric keeps its color when another one is reported for the first time.
    colors = [color_of(place) for place in range(len(curves))]
    names = short_titles([each.metric for each in curves])
    traces = [
        _trace(each, name, color, shares)
        for each, name, color in zip(curves, names, colors, strict=True)
        if len(each.curve.x)
    ]
    return to_figure(traces, layout)


def short_titles(metrics: Sequence[str]) -> list[str]:
    """Return each metric's title without the first words that all titles share.

    "Staleness 0" and "Staleness 1 to 3" become "0" and "1 to 3". "Prediction queue" and "Training queue" are unchanged.
    """
    words = [named(metric).title.split() for metric in metrics]
    shared = len(list(takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))))
    left = [" ".join(each[shared:] or each) for each in words]
    return [name[:1].upper() + name[1:] for name in left]


def _shares_axis() -> dict[str, Any]:
    return {"type": "linear", "tickformat": ".0%", "range": [0, 1]}


def _y_axis(curves: Sequence[MetricCurve], look: Look) -> dict[str, Any]:
    from_zero = {} if look.y_log else {"rangemode": "tozero"}
    return from_zero | y_axis([each.curve.mean for each in curves], look.y_log, _shared_unit(curves), clip=look.clip)


def _shared_unit(curves: Sequence[MetricCurve]) -> str:
    units = {named(each.metric).unit for each in curves}
    return units.pop() if len(units) == 1 else ""


def _trace(each: MetricCurve, name: str, color: str, shares: bool) -> go.Scatter:
    curve = each.curve
    heights, unit = smooth(curve, each.smoothing), named(each.metric).unit
    hover: dict[str, Any] = {"hovertemplate": "%{y:.0%}" if shares else "%{y:.4~g}"}
    if unit in SIZE_SUFFIXES and not shares:
        hover = {"hovertemplate": "%{text}", "text": [format_size(height, unit) for height in heights]}
    # Interpolate where only other metrics have a point, so that the stack has no gap.
    stacked = {"stackgroup": "whole", "groupnorm": "fraction", "stackgaps": "interpolate"} if shares else {}
    return go.Scatter(
        x=curve.x,
        y=heights,
        name=name,
        mode="lines+markers" if len(curve.x) == 1 else "lines",
        line={"color": color, "width": 1 if shares else 2},
        uid=each.metric,
        meta={"metric": each.metric},
        **hover,
        **stacked,
    )

"""Runs that differ in their seed alone, or agree in some fields, drawn as one: their middle in a band.

They share the places at which it is drawn. A run counts only between its first and its last point, so n falls where
some end early.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from backend.comparisons.statistics import Center, by_place
from backend.comparisons.statistics import curve as bootstrapped
from backend.figures.curves_figure import (
    RunCurve,
    band_traces,
    curves_layout,
    line_trace,
    not_finite_trace,
    origin_traces,
    run_traces,
)
from backend.figures.drawing import Look, as_text, plain
from backend.figures.schemas import Figure
from backend.figures.sizes import value
from backend.figures.smoothing import smoothed
from backend.metrics.buckets import Curve, bins_over
from backend.metrics.curves import Window
from backend.metrics.points import Floats, Ints
from workers.contract.metrics import named

# How far beyond a zoom lines are read, as a part of its length.
EDGE = 0.1

Band = Literal["range", "standard-error", "bootstrap"]


@dataclass(frozen=True)
class Grouping:
    """How groups are to be drawn."""

    band: Band = "bootstrap"
    center: Center = "mean"
    # The fields that the runs of a group agree in; without any they differ in their seed alone.
    by: Sequence[str] = ()
    # Whether each run is drawn too, as a thin line.
    seeds: bool = False


@dataclass(frozen=True)
class Group:
    """Runs that are drawn as one; one alone is drawn as it is without groups."""

    name: str
    runs: Sequence[RunCurve]


@dataclass(frozen=True)
class Line:
    """What is drawn of a run: finite heights at places in order."""

    x: Floats
    y: Floats


def grouped_figure(groups: Sequence[Group], metric: str, look: Look, grouping: Grouping, window: Window) -> Figure:
    """The figure of one metric; each group has up to about as many places as the window has buckets."""
    unit = named(metric).unit
    parts: list[Curve] = []
    traces: list[go.Scatter] = []
    for group in groups:
        if len(group.runs) == 1:
            (run,) = group.runs
            parts.extend(run.parts)
            traces.extend([*origin_traces(run, unit), *run_traces(run, look, unit)])
        else:
            curve = middle_curve([line_of(run) for run in group.runs], grouping, window)
            mean = replace(group.runs[0], name=group.name, curve=curve)
            parts.extend([*mean.parts, *(run.curve for run in group.runs if grouping.seeds)])
            traces.extend(_traces(group, mean, look, grouping, window, unit))
    layout = curves_layout(parts, metric, look, legend=True)
    if grouping.center == "iqm":
        layout.yaxis.title.text += ", interquartile mean"
    return Figure(data=[plain(trace) for trace in traces], layout=layout.to_plotly_json())


def line_of(run: RunCurve) -> Line:
    """The smoothed line of a run; a clock that was set back does not turn it round."""
    return Line(*by_place(run.curve.x, smoothed(run.curve, run.smoothing)))


def middle_curve(lines: Sequence[Line], grouping: Grouping, window: Window) -> Curve:
    """The mean of lines, with the band as minimum and maximum and n as count; no band where n is 1.

    The interquartile mean of fewer than four runs is their mean, as it leaves out a whole number of runs.
    """
    x = shared_places(lines, window)
    heights = [np.interp(x, each.x, each.y, left=np.nan, right=np.nan) for each in lines if len(each.x)]
    scores = np.array(heights).reshape(len(heights), len(x))
    count = np.isfinite(scores).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        middle, low, high = (
            _interquartile(scores, grouping.band) if grouping.center == "iqm" else _mean(scores, count, grouping.band)
        )
    low, high = np.where(count > 1, low, middle), np.where(count > 1, high, middle)
    return Curve(False, int(count.sum()), x, middle, low, high, middle, count)


def shared_places(lines: Sequence[Line], window: Window) -> Floats:
    """Every place of any line in the window if they are few, else the borders of bins and both ends of each line."""
    places = _within(np.unique(np.concatenate([np.empty(0), *(each.x for each in lines)])), window)
    if len(places) <= window.buckets:
        return places
    low, high = float(places[0]), float(places[-1])
    borders = bins_over(low, high, window.buckets, window.log).borders
    ends = np.array([end for each in lines if len(each.x) for end in (each.x[0], each.x[-1])])
    every = np.unique(np.concatenate([borders, ends, [low, high]]))
    return every[(every >= low) & (every <= high)]


def _within(x: Floats, window: Window) -> Floats:
    return x[(x >= window.low) & (x <= window.high) & ((x > 0) | (not window.log))]


def wider(window: Window) -> Window:
    """A part around a zoom, so that lines reach its edges and a run is not missed there."""
    if window.log:
        low, high = max(window.low, 0.0), window.high
        ratio = (high / low) ** EDGE if 0 < low <= high < np.inf else 1 + EDGE
        return replace(window, low=window.low / ratio if window.low > 0 else window.low, high=high * ratio)
    known = [abs(end) for end in (window.low, window.high) if np.isfinite(end)]
    edge = EDGE * (window.high - window.low if len(known) == 2 else max(known, default=0.0))
    return replace(window, low=window.low - edge, high=window.high + edge)


def _mean(scores: Floats, count: Ints, band: Band) -> tuple[Floats, Floats, Floats]:
    """The mean at each place, and the lower and upper end of its band."""
    mean = np.where(count > 0, np.nansum(scores, axis=0) / count, np.nan)
    if band == "range":
        return mean, *_range(scores)
    if band == "standard-error":
        error = np.sqrt(np.nansum((scores - mean) ** 2, axis=0) / (count - 1) / count)
        return mean, mean - error, mean + error
    return mean, *bootstrapped(scores, "mean").interval


def _interquartile(scores: Floats, band: Band) -> tuple[Floats, Floats, Floats]:
    """The same of the interquartile mean; it has no formula for its standard error, so that is the bootstrap's."""
    found = bootstrapped(scores, "iqm")
    if band == "range":
        return found.center, *_range(scores)
    if band == "standard-error":
        return found.center, found.center - found.error, found.center + found.error
    return found.center, *found.interval


def _range(scores: Floats) -> tuple[Floats, Floats]:
    return np.fmin.reduce(scores, axis=0), np.fmax.reduce(scores, axis=0)


def _traces(
    group: Group, mean: RunCurve, look: Look, grouping: Grouping, window: Window, unit: str
) -> list[go.Scatter]:
    """Each seed behind the mean of all; the legend shows and hides them together."""
    curve = mean.curve
    if not len(curve.x):
        return []
    traces = origin_traces(mean, unit)
    if (curve.max > curve.min).any():
        traces.extend(band_traces(mean, curve.x, look.y_log))
    for run in group.runs:
        traces.extend(_seed(replace(run, stroke=mean.stroke), grouping.seeds, window, unit))
    hover = {"text": _hover(curve, len(group.runs), unit), "hovertemplate": "%{text}"}
    traces.append(line_trace(mean, curve.x, curve.mean, "line", name=as_text(group.name), **hover))
    ids = [run.run_id for run in group.runs]
    return [trace.update(legendgroup=str(mean.run_id), meta={**trace.meta, "group": ids}) for trace in traces]


def _seed(run: RunCurve, shown: bool, window: Window, unit: str) -> list[go.Scatter]:
    """The thin line of a run if it is to be shown, and in any case marks where it had no number."""
    inside = np.isin(run.curve.x, _within(run.curve.x, window))
    broken = inside & ~np.isfinite(run.curve.mean)
    traces = []
    if shown and inside.any():
        y = smoothed(run.curve, run.smoothing)[inside]
        said = {"text": [value(each, unit) for each in y], "hovertemplate": "%{text}", "name": as_text(run.name)}
        traces.append(line_trace(run, run.curve.x[inside], y, "seed", opacity=0.5, showlegend=False, **said))
    if broken.any():
        traces.append(not_finite_trace(run, run.curve.x, broken))
    return traces


def _hover(curve: Curve, runs: int, unit: str) -> list[str]:
    """The mean, its band, and how many runs there are at a place that some have not reached."""
    texts = []
    for y, low, high, n in zip(curve.mean, curve.min, curve.max, curve.count, strict=True):
        around = f" [{value(low, unit)}, {value(high, unit)}]" if n > 1 else ""
        texts.append(value(y, unit) + around + (f", n = {n} here" if n < runs else ""))
    return texts

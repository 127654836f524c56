"""Curves of runs, and of groups of runs drawn as one line in a band.

The runs of a group differ only in their seed, or agree in some fields. All lines of a group are read at the same
places. A run counts only between its first and its last point, so n drops where some runs end early.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke, strokes
from arcadia_backend.comparisons.groups import group_labels, group_runs, group_samples, run_labels, strokes_by_run
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.curves_figure import (
    Origin,
    RunCurve,
    band_traces,
    curves_figure,
    curves_layout,
    line_trace,
    name_in_tooltips,
    not_finite_trace,
    origin_traces,
    read_origins,
    read_smoothed_curves,
    run_traces,
    smooth,
)
from arcadia_backend.figures.drawing import Figure, Look, faint, format_value, to_figure
from arcadia_backend.metrics.points import Floats, Ints, MetricSeries
from arcadia_backend.metrics.queries import UNFINISHED, UnknownMetric, Window
from arcadia_backend.metrics.reading import Curve, bins_over, find_shared_series
from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.means import UNBOUNDED, Bounds
from arcadia_workers.contract.inference.samples import Center, center_curve, sorted_means
from arcadia_workers.contract.metrics import EPISODE_RETURN, named

# More lines are drawn as their distribution.
MAX_LINES = 100
# Lines are read this far beyond a zoom, as a fraction of its length.
ZOOM_MARGIN = 0.1

Band = Literal["range", "standard-error", "bootstrap"]


@dataclass(frozen=True)
class Grouping:
    """Options for drawing groups."""

    band: Band = "bootstrap"
    center: Center = "mean"
    # Fields in which the runs of a group agree. If empty, they differ only in their seed.
    by: Sequence[str] = ()
    # Draw each run too, as a thin line.
    seeds: bool = False
    # Bounds of the metric, which the ends of an interval cannot pass.
    bounds: Bounds = UNBOUNDED


@dataclass(frozen=True)
class SmoothedLine:
    """The smoothed line of a run: finite heights at ascending places."""

    x: Floats
    y: Floats


@dataclass(frozen=True)
class RunGroup:
    """Runs that are drawn as one line. A single run is drawn as without groups.

    The runs of a sample repeat each other, seed included.
    """

    name: str
    samples: Sequence[Sequence[RunCurve]]

    @property
    def runs(self) -> list[RunCurve]:
        """Return the runs of all samples."""
        return [run for sample in self.samples for run in sample]

    @property
    def lines(self) -> list[SmoothedLine]:
        """Return the line of each sample: the mean of its runs."""
        return [_mean_line([smooth_line(run) for run in sample]) for sample in self.samples]


def grouped_figure(groups: Sequence[RunGroup], metric: str, look: Look, grouping: Grouping, window: Window) -> Figure:
    """Return the figure of one metric. Each group has about as many places as the window has buckets, or fewer."""
    unit = named(metric).unit
    parts: list[Curve] = []
    traces: list[go.Scatter] = []
    for group in groups:
        if len(group.runs) == 1:
            (run,) = group.runs
            parts.extend(run.parts)
            traces.extend([*origin_traces(run, unit), *run_traces(run, look, unit)])
        else:
            curve = middle_curve(group.lines, grouping, window)
            mean = replace(group.runs[0], name=group.name, curve=curve)
            parts.extend([*mean.parts, *(run.curve for run in group.runs if grouping.seeds)])
            traces.extend(_traces(group, mean, look, grouping, window, unit))
    hovered = sum(len(group.runs) for group in groups) if grouping.seeds else None
    layout = curves_layout(parts, metric, look, len(groups), legend=True, hovered=hovered)
    if grouping.center == "iqm":
        layout.yaxis.title.text += ", interquartile mean"
    return to_figure(name_in_tooltips(traces, layout, look), layout)


def smooth_line(run: RunCurve) -> SmoothedLine:
    """Return the smoothed line of a run, sorted by x because a clock may have been set back."""
    return SmoothedLine(*sorted_means(run.curve.x, smooth(run.curve, run.smoothing)))


def _mean_line(lines: Sequence[SmoothedLine]) -> SmoothedLine:
    """Return the mean of lines. Each counts only between its ends."""
    if len(lines) == 1:
        return lines[0]
    x = np.unique(np.concatenate([each.x for each in lines]))
    heights = heights_at(lines, x)
    return SmoothedLine(x, np.nansum(heights, axis=0) / np.isfinite(heights).sum(axis=0))


def middle_curve(lines: Sequence[SmoothedLine], grouping: Grouping, window: Window) -> Curve:
    """Return the mean of lines, with the band as minimum and maximum and n as count. A single run has no band.

    The interquartile mean leaves out a whole number of runs, so for fewer than four runs it is their mean.
    """
    x = shared_places(lines, window)
    scores = heights_at(lines, x)
    count = np.isfinite(scores).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        middle, low, high = (
            _interquartile(scores, grouping) if grouping.center == "iqm" else _mean(scores, count, grouping)
        )
    low, high = (np.where((count > 1) & np.isfinite(end), end, middle) for end in (low, high))
    return Curve(False, int(count.sum()), x, middle, low, high, middle, count)


def heights_at(lines: Sequence[SmoothedLine], x: Floats) -> Floats:
    """Return a row of heights for each line that has points, with NaN outside of the line."""
    heights = [np.interp(x, each.x, each.y, left=np.nan, right=np.nan) for each in lines if len(each.x)]
    return np.array(heights).reshape(len(heights), len(x))


def shared_places(lines: Sequence[SmoothedLine], window: Window) -> Floats:
    """Return all places of all lines in the window. If they are many, return bin borders and the ends of each line."""
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


def widen(window: Window) -> Window:
    """Return a slightly larger window, so that every line reaches the edges of a zoom."""
    if window.log:
        low, high = max(window.low, 0.0), window.high
        ratio = (high / low) ** ZOOM_MARGIN if 0 < low <= high < np.inf else 1 + ZOOM_MARGIN
        return replace(window, low=window.low / ratio if window.low > 0 else window.low, high=high * ratio)
    known = [abs(end) for end in (window.low, window.high) if np.isfinite(end)]
    edge = ZOOM_MARGIN * (window.high - window.low if len(known) == 2 else max(known, default=0.0))
    return replace(window, low=window.low - edge, high=window.high + edge)


def _mean(scores: Floats, count: Ints, grouping: Grouping) -> tuple[Floats, Floats, Floats]:
    """Return the mean at each place, and the lower and upper ends of its band."""
    mean = np.where(count > 0, np.nansum(scores, axis=0) / count, np.nan)
    if grouping.band == "range":
        return mean, *_range(scores)
    if grouping.band == "standard-error":
        error = np.sqrt(np.nansum((scores - mean) ** 2, axis=0) / (count - 1) / count)
        return mean, mean - error, mean + error
    return mean, *center_curve(scores, "mean", bounds=grouping.bounds).interval


def _interquartile(scores: Floats, grouping: Grouping) -> tuple[Floats, Floats, Floats]:
    """Return the same for the interquartile mean. Its standard error comes from the bootstrap; there is no formula."""
    curve = center_curve(scores, "iqm", bounds=grouping.bounds)
    if grouping.band == "range":
        return curve.center, *_range(scores)
    if grouping.band == "standard-error":
        return curve.center, curve.center - curve.error, curve.center + curve.error
    return curve.center, *curve.interval


def _range(scores: Floats) -> tuple[Floats, Floats]:
    return np.fmin.reduce(scores, axis=0), np.fmax.reduce(scores, axis=0)


def _traces(
    group: RunGroup, mean: RunCurve, look: Look, grouping: Grouping, window: Window, unit: str
) -> list[go.Scatter]:
    """Return each seed behind the mean of all. The legend shows and hides them together."""
    curve = mean.curve
    if not len(curve.x):
        return []
    traces = origin_traces(mean, unit)
    if (curve.max > curve.min).any():
        traces.extend(band_traces(mean, curve.x, look.y_log))
    for run in group.runs:
        traces.extend(_seed(replace(run, stroke=mean.stroke), grouping.seeds, window, unit))
    hover = {"text": _hover(curve, len(group.samples), unit), "hovertemplate": "%{text}"}
    traces.append(line_trace(mean, curve.x, curve.mean, "line", name=group.name, **hover))
    ids = [run.run_id for run in group.runs]
    return [trace.update(legendgroup=str(mean.run_id), meta={**trace.meta, "group": ids}) for trace in traces]


def _seed(run: RunCurve, shown: bool, window: Window, unit: str) -> list[go.Scatter]:
    """Return the thin line of a run if `shown`, and always its marks at NaN and infinities."""
    inside = np.isin(run.curve.x, _within(run.curve.x, window))
    broken = inside & ~np.isfinite(run.curve.mean)
    traces = []
    if shown and inside.any():
        y = smooth(run.curve, run.smoothing)[inside]
        hover = {"text": [format_value(each, unit) for each in y], "hovertemplate": "%{text}", "name": run.name}
        traces.append(line_trace(run, run.curve.x[inside], y, "seed", opacity=0.5, showlegend=False, **hover))
    if broken.any():
        traces.append(not_finite_trace(run, run.curve.x, broken))
    return traces


def _hover(curve: Curve, samples: int, unit: str) -> list[str]:
    """Return tooltips: the mean, its band, and n where some samples are missing."""
    texts = []
    for y, low, high, n in zip(curve.mean, curve.min, curve.max, curve.count, strict=True):
        around = f" [{format_value(low, unit)}, {format_value(high, unit)}]" if low < high else ""
        texts.append(format_value(y, unit) + around + (f", n = {n} here" if n < samples else ""))
    return texts


PERCENTILES = (10, 25, 50, 75, 90)


def percentiles_figure(groups: Sequence[RunGroup], metric: str, look: Look, window: Window) -> Figure:
    """Return the figure of one metric. A group of one run is drawn as its curve."""
    unit = named(metric).unit
    parts: list[Curve] = []
    traces: list[go.Scatter] = []
    for group in groups:
        first = group.runs[0]
        if len(group.runs) == 1:
            parts.append(first.curve)
            traces.extend(run_traces(first, look, unit))
        else:
            lines = group.lines
            x = shared_places(lines, window)
            heights = heights_at(lines, x)
            percentiles = _percentiles(heights)
            lowest, _low, middle, _high, highest = percentiles
            parts.append(Curve(False, len(x), x, middle, lowest, highest, middle, np.ones(len(x), np.int64)))
            if len(x):
                traces.extend(
                    _percentile_traces(group, first, x, percentiles, np.isfinite(heights).sum(axis=0).tolist(), unit)
                )
    layout = curves_layout(parts, metric, look, len(groups), legend=True)
    if any(len(group.runs) > 1 for group in groups):
        layout.yaxis.title.text += ", median with 25–75 % and 10–90 % of the runs"
    return to_figure(name_in_tooltips(traces, layout, look), layout)


def _percentiles(heights: Floats) -> Floats:
    """Return a row for each percentile. Runs count between their first and their last point."""
    if not heights.size:
        return np.empty((len(PERCENTILES), heights.shape[1]))
    return np.asarray(np.nanpercentile(heights, PERCENTILES, axis=0))


def _percentile_traces(
    group: RunGroup, first: RunCurve, x: Floats, percentiles: Floats, counts: Sequence[int], unit: str
) -> list[go.Scatter]:
    shared: dict[str, Any] = {"legendgroup": str(first.run_id)}
    band = {**shared, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    filled = {"fill": "tonexty", "fillcolor": faint(first.stroke.color)}
    meta = {"run_id": first.run_id, "group": [run.run_id for run in group.runs]}
    traces = []
    for low, high in ((0, -1), (1, -2)):
        for row, more in ((low, {}), (high, filled)):
            part = f"p{PERCENTILES[row]}"
            uid = f"{first.run_id}-{part}"
            traces.append(go.Scatter(x=x, y=percentiles[row], uid=uid, meta={**meta, "part": part}, **more, **band))
    hover = {"text": _percentile_hover(percentiles, counts, len(group.samples), unit), "hovertemplate": "%{text}"}
    line = line_trace(first, x, percentiles[2], "line", name=group.name, **hover)
    return [*traces, line.update(meta={**line.meta, **meta})]


def _percentile_hover(percentiles: Floats, counts: Sequence[int], samples: int, unit: str) -> list[str]:
    """Return tooltips: the median, both bands, and n where some samples are missing."""
    texts = []
    for values, n in zip(percentiles.T, counts, strict=True):
        lowest, low, middle, high, highest = (format_value(value, unit) for value in values)
        missing = f", n = {n} here" if n < samples else ""
        texts.append(f"{middle} [{low}, {high}], 10–90 %: [{lowest}, {highest}]{missing}")
    return texts


def draw_curves(
    session: Session,
    runs: Sequence[Run],
    metric: str,
    look: Look,
    window: Window,
    smoothing: float,
    *,
    ancestry: bool = False,
    grouping: Grouping | None = None,
    styles: Mapping[int, Stroke] | None = None,
) -> Figure:
    """Return the curves of one metric. `window` is on the figure's x axis, in seconds if that is time.

    `styles` has the stroke of each run without groups. By default, it depends on the run's place. More lines than a
    person can tell apart are drawn as their median and percentiles.
    """
    every = _find_series(session, runs, metric)
    before = read_origins(session, runs, metric, window) if ancestry else {}
    drawn = _read_run_curves(session, runs, every, window, smoothing, before, styles)
    groups = _read_groups(session, runs, every, window, smoothing, grouping.by, before) if grouping else []
    if len(groups or drawn) > MAX_LINES:
        name = f"Median of {len(drawn)} runs, 25–75 %, 10–90 %"
        return percentiles_figure([RunGroup(name, [[run] for run in drawn.values()])], metric, look, window)
    if grouping is None:
        return curves_figure(list(drawn.values()), metric, look)
    envs = {run.env for run in runs}
    if metric == EPISODE_RETURN and len(envs) == 1:
        grouping = replace(grouping, bounds=score_bounds(envs.pop()))
    return grouped_figure(groups, metric, look, grouping, window)


def draw_percentiles(
    session: Session,
    runs: Sequence[Run],
    metric: str,
    look: Look,
    window: Window,
    smoothing: float,
    by: Sequence[str],
) -> Figure:
    """Return the percentiles of one metric over the runs of each group."""
    every = _find_series(session, runs, metric)
    return percentiles_figure(_read_groups(session, runs, every, window, smoothing, by), metric, look, window)


def _find_series(session: Session, runs: Sequence[Run], metric: str) -> dict[int, MetricSeries]:
    """Return the series of each run that has reported the metric. Raise UnknownMetric if none ever will."""
    every = find_shared_series(session, [run.id for run in runs], metric)
    if not every and not any(run.state in UNFINISHED for run in runs):
        raise UnknownMetric(f"None of these runs has reported {metric}.")
    return every


def _read_groups(
    session: Session,
    runs: Sequence[Run],
    every: Mapping[int, MetricSeries],
    window: Window,
    smoothing: float,
    by: Sequence[str],
    before: Mapping[int, Sequence[Origin]] = {},
) -> list[RunGroup]:
    """Return the groups of the runs that have the series. Runs of a group are read slightly beyond the window."""
    drawn = _read_run_curves(session, runs, every, window, smoothing, before)
    around = widen(window)
    wide = drawn if around == window else _read_run_curves(session, runs, every, around, smoothing, before)
    group_strokes = strokes_by_run(group_runs(runs, by))
    groups = group_samples(runs, by, every)
    read = []
    for name, group in zip(group_labels(groups, by), groups, strict=True):
        curves = drawn if len(group) == len(group[0]) == 1 else wide
        stroke = group_strokes[group[0][0].id]
        samples = [[replace(curves[run.id], stroke=stroke) for run in sample] for sample in group]
        read.append(RunGroup(name, samples))
    return read


def _read_run_curves(
    session: Session,
    runs: Sequence[Run],
    every: Mapping[int, MetricSeries],
    window: Window,
    smoothing: float,
    before: Mapping[int, Sequence[Origin]],
    styles: Mapping[int, Stroke] | None = None,
) -> dict[int, RunCurve]:
    """Return the curves of the runs that have the series, by run, in the order of the runs."""
    reported = [run.id for run in runs if run.id in every]
    curves = read_smoothed_curves(session, [every[run_id] for run_id in reported], window, smoothing)
    names = run_labels(runs)
    styles = strokes([run.id for run in runs]) if styles is None else styles
    return {
        run_id: RunCurve(run_id, names[run_id], styles[run_id], curve, how, before.get(run_id, ()))
        for run_id, (curve, how) in zip(reported, curves, strict=True)
    }

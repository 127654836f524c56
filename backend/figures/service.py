"""Curves of runs for figures: series, ancestors, names, colors and groups."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from backend.colors import Stroke, strokes
from backend.comparisons.groups import group_labels, group_runs, group_samples, run_labels, strokes_by_run
from backend.database.tables import Run
from backend.figures.curves_figure import Origin, RunCurve, curves_figure, read_origins, read_smoothed_curves
from backend.figures.drawing import Figure, FigureName, Look
from backend.figures.groups import Grouping, RunGroup, grouped_figure, percentiles_figure, widen
from backend.metrics.points import MetricSeries
from backend.metrics.queries import UNFINISHED, UnknownMetric, Window
from backend.metrics.reading import find_shared_series

FIGURES = [
    FigureName(name="curves", title="A metric of several runs during training"),
    FigureName(name="profile", title="Share of runs above each return, by setting"),
    FigureName(name="sample-efficiency", title="Scores over runs and games by step, by setting"),
    FigureName(name="together", title="Several metrics of a run during training, as lines or shares"),
    FigureName(name="percentiles", title="Percentiles of a metric over seeds during training, by setting"),
    FigureName(name="metric-by-metric", title="A metric of several runs against another metric"),
    FigureName(name="scatter", title="One point for each run: a setting or result against another one"),
    FigureName(name="episode-histogram", title="Histogram of the returns of training episodes, by setting"),
    FigureName(name="action-shares", title="Share of each action in the replays of a run, by checkpoint"),
    FigureName(name="evaluations", title="Evaluation scores of a run during training"),
    FigureName(name="evaluation-scores", title="Episode scores of an evaluation"),
    FigureName(name="calibrations", title="Error of the critics of several runs during training"),
    FigureName(name="calibration", title="Values of a critic against the returns of futures"),
]


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

    `styles` has the stroke of each run without groups. By default, it depends on the run's place.
    """
    every = _find_series(session, runs, metric)
    before = read_origins(session, runs, metric, window) if ancestry else {}
    drawn = _read_run_curves(session, runs, every, window, smoothing, before, styles)
    if grouping is None:
        return curves_figure(list(drawn.values()), metric, look)
    groups = _read_groups(session, runs, every, window, smoothing, grouping.by, before)
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

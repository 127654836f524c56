"""Measurements of the runs of started studies by study point, and figures and score tables drawn from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import COLORS_PER_CHART, PALETTE
from arcadia_backend.figures.drawing import Figure, as_text
from arcadia_backend.games.schemas import MethodScore
from arcadia_backend.games.scores import evaluations_of_runs, methods_of, normalized, reference
from arcadia_backend.metrics.points import Floats, Ints, MetricSeries, load_limits, load_run_views
from arcadia_backend.metrics.queries import VisibleSeries, Window, read_curves
from arcadia_backend.metrics.reading import Axis, visible_summaries
from arcadia_backend.papers.definition import DrawItem, PrintedNumber, StartedStudy, StudyPart
from arcadia_backend.papers.schemas import PaperSpeed
from arcadia_backend.studies.points import point_values, read_specification
from arcadia_backend.studies.results import Point, load_points
from arcadia_backend.studies.specification import point_label
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.inference.samples import sorted_means
from arcadia_workers.contract.metrics import CEILING, EPISODE_RETURN, STEPS_PER_SECOND
from arcadia_workers.contract.published import NormalizedScore, Score

# Places along a curve. Each is the mean of the episodes around it.
PLACES = 100


@dataclass(frozen=True)
class MeasuredPoint:
    """A study point with the values of its axes and its existing runs."""

    values: Mapping[str, Any]
    point: Point

    @property
    def run_ids(self) -> list[int]:
        """Return the runs of the point that exist."""
        return [run.run_id for run in self.point.runs if run.run_id is not None and run.state is not None]

    @property
    def finished_ids(self) -> list[int]:
        """Return the finished runs of the point."""
        return [run.run_id for run in self.point.runs if run.run_id is not None and run.state == "finished"]


def measured_points(session: Session, started: StartedStudy) -> list[MeasuredPoint]:
    """Return all points of a study."""
    specification = read_specification(started.study)
    return [
        MeasuredPoint(point_values(specification, point.draw), point) for point in load_points(session, started.study)
    ]


def means(session: Session, run_ids: Sequence[int], metric: str) -> dict[int, float]:
    """Return the mean of a metric in each run that has reported it."""
    limits = load_limits(session, run_ids)
    means_by_run: dict[int, float] = {}
    every = _read_series(session, run_ids, metric)
    visible = visible_summaries(session, every, [limits[series.run_id] for series in every])
    for series, summaries in zip(every, visible, strict=True):
        if summaries["count"].sum():
            means_by_run[series.run_id] = float(summaries["sum"].sum() / summaries["count"].sum())
    return means_by_run


def mean(session: Session, run_ids: Sequence[int], metric: str) -> float | None:
    """Return the mean over runs of each run's mean."""
    by_run = means(session, run_ids, metric)
    return sum(by_run.values()) / len(by_run) if by_run else None


@dataclass(frozen=True)
class MeanCurve:
    """The mean of several curves, and the number of curves at each place."""

    x: Floats
    mean: Floats
    count: Ints


def curve(session: Session, run_ids: Sequence[int], axis: Axis, metric: str = EPISODE_RETURN) -> MeanCurve | None:
    """Return the mean over runs of a metric along an axis, or None if no run has reported it."""
    views, window = load_run_views(session, run_ids), Window(axis, buckets=PLACES)
    seen = [VisibleSeries(series, views[series.run_id]) for series in _read_series(session, run_ids, metric)]
    curves = read_curves(session, seen, window)
    return mean_of([(each.x, each.mean) for each in curves if len(each.x)])


def mean_of(curves: Sequence[tuple[Floats, Floats]]) -> MeanCurve | None:
    """Return the mean at every place of any curve. A curve counts only between its ends."""
    known = [(x, y) for x, y in (sorted_means(*each) for each in curves) if len(x)]
    if not known:
        return None
    x = np.unique(np.concatenate([places for places, _ in known]))
    heights = np.array([np.interp(x, *each, left=np.nan, right=np.nan) for each in known])
    count = np.isfinite(heights).sum(axis=0)
    shown = count > 0
    return MeanCurve(x[shown], np.nansum(heights[:, shown], axis=0) / count[shown], count[shown])


def _read_series(session: Session, run_ids: Sequence[int], metric: str) -> Sequence[MetricSeries]:
    query = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_(run_ids))
    return session.scalars(query.order_by(MetricSeries.run_id)).all()


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
        for place, point in enumerate(measured_points(session, each)):
            mean = curve(session, point.run_ids, axis)
            if mean is not None:
                name = point_label(point.values)
                hover = [f"{name}: {y:,.6g}, n = {n}" for y, n in zip(mean.mean, mean.count, strict=True)]
                traces.append(line(name, color_at(place), mean.x.tolist(), mean.mean.tolist(), hover, mode="lines"))
    return figure(traces, x_title)


# Fields that make a run measure its environments alone before training.
MEASURE_CEILING = {"ceiling_seconds": 5}


def measures_speed(part: StudyPart) -> bool:
    """Return True if the part's runs measure the environments alone."""
    return part.specification.changes.keys() >= MEASURE_CEILING.keys()


def share_of_ceiling(session: Session, run_ids: Sequence[int]) -> float | None:
    """Return the mean over runs of their steps per second as a share of their own ceiling."""
    rates, ceilings = (means(session, run_ids, metric) for metric in (STEPS_PER_SECOND, CEILING))
    shares = [rate / ceilings[run] for run, rate in rates.items() if ceilings.get(run)]
    return sum(shares) / len(shares) if shares else None


def describe_share(session: Session, point: MeasuredPoint) -> str:
    """Return the speed of a point as a share of its ceiling, for the tooltip."""
    share = share_of_ceiling(session, point.run_ids)
    if share is None:
        return "the environments alone were not measured on this host"
    return f"{share:.0%} of the speed of the environments alone"


def speeds(session: Session, started: Sequence[StartedStudy]) -> list[PaperSpeed]:
    """Return the speed of each point that has reported it, in studies that measure it."""
    return [
        PaperSpeed(
            part=each.part.title,
            share=each.share,
            setting=point_label(point.values),
            rate=rate,
            ceiling=mean(session, point.run_ids, CEILING),
            of_ceiling=share_of_ceiling(session, point.run_ids),
        )
        for each in started
        if measures_speed(each.part)
        for point in measured_points(session, each)
        if (rate := mean(session, point.run_ids, STEPS_PER_SECOND)) is not None
    ]


# Lower percentages are drawn here, at the edge of the logarithmic axis. The tooltip has the value.
MIN_PERCENT = 1.0
SYMBOLS = ("diamond-open", "circle-open", "square-open", "cross-open")


def number_of(row: Score) -> PrintedNumber:
    """Return a published score as a printed number."""
    return PrintedNumber(f"{title_of(row.env)}, {row.player}", row.score, "", row.source, row.table, row.protocol)


def percent_of(row: NormalizedScore) -> PrintedNumber:
    """Return a published percentage as a printed number."""
    what = f"{title_of(row.env)}, {row.player} normalized by {row.normalized_by}"
    return PrintedNumber(what, row.percent, "%", row.source, row.table, row.protocol)


def title_of(env: str) -> str:
    """Return the name of a game."""
    return ENVIRONMENTS[env].title


def human_normalized(rows: Sequence[Score], protocol: str) -> DrawItem:
    """Return a function that draws scores by one protocol, game by game. Games without human scores are left out."""
    players = [player for player in dict.fromkeys(row.player for row in rows) if player not in ("random", "human")]
    games = sorted({row.env for row in rows if not isinstance(reference(row.env, protocol), str)}, key=title_of)

    def draw(session: Session, _: Sequence[StartedStudy]) -> Figure:
        hover = {player: {row.env: row.score for row in rows if row.player == player} for player in players}
        traces = [
            _trace(player, THEIRS, scores, protocol, symbol=SYMBOLS[place])
            for place, (player, scores) in enumerate(hover.items())
        ]
        traces += _ours(session, games, protocol)
        layout = {"type": "category", "categoryorder": "array", "categoryarray": [title_of(env) for env in games][::-1]}
        return figure(traces, "human-normalized score, %", {"type": "log"}, yaxis=layout)

    return draw


def _ours(session: Session, games: Sequence[str], protocol: str) -> list[go.Scatter]:
    """Return the mean over the runs of each method in each game."""
    by_method: dict[str, dict[str, MethodScore]] = {}
    for env, scores in methods_of(session, evaluations_of_runs(session, games), games).items():
        for score in scores:
            if score.protocol == protocol:
                by_method.setdefault(score.method, {})[env] = score
    return [
        _trace(
            f"Ours: {method}",
            color_at(place),
            {env: score.mean for env, score in by_game.items()},
            protocol,
            {env: f", {score.runs} run{'s' * (score.runs != 1)}" for env, score in by_game.items()},
            size=9,
        )
        for place, (method, by_game) in enumerate(sorted(by_method.items()))
    ]


def _trace(
    name: str,
    color: str,
    scores: Mapping[str, float],
    protocol: str,
    notes: Mapping[str, str] | None = None,
    **mark: Any,
) -> go.Scatter:
    percents = {env: normalized(score, reference(env, protocol)) for env, score in scores.items()}
    shown = {env: percent for env, percent in percents.items() if percent is not None}
    after = notes or {}
    hover = [
        f"{title_of(env)}, {name}: {percent:,.4g} % ({scores[env]:,.6g}){after.get(env, '')}"
        for env, percent in shown.items()
    ]
    x = [max(MIN_PERCENT, percent) for percent in shown.values()]
    return dots(name, color, x, [title_of(env) for env in shown], hover, **mark)

"""Figures of runs: what to read for them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import color_of, strokes
from backend.comparisons.groups import groups_of, groups_over_games, strokes_of
from backend.comparisons.scores import scored_groups, trails
from backend.comparisons.statistics import Center
from backend.database.tables import Evaluation, Run
from backend.evaluations.service import done, episodes, find_evaluation
from backend.figures.ancestry import Origin, origins
from backend.figures.curves_figure import RunCurve, curves_figure
from backend.figures.drawing import Look
from backend.figures.efficiency_figure import Learner, efficiency_figure
from backend.figures.evaluations_figure import Evaluated, evaluations_figure, protocol_color
from backend.figures.groups import Group, Grouping, grouped_figure, wider
from backend.figures.profile_figure import profile_figure
from backend.figures.schemas import Figure, FigureName
from backend.figures.scores_figure import scores_figure
from backend.figures.smoothing import UNSMOOTHED, smoothings
from backend.figures.together_figure import MetricCurve, together_figure
from backend.metrics.buckets import NOTHING
from backend.metrics.curves import FRAMES_PER_EPOCH, Window, read_curve, run_views
from backend.metrics.models import MetricSeries
from backend.metrics.queries import UNFINISHED, UnknownMetric
from backend.runs.labels import group_labels, group_names, labels, names_over_games
from workers.contract.metrics import EPISODE_RETURN
from workers.contract.protocols.document import EvaluationDocument

FIGURES = [
    FigureName(name="curves", title="A metric of some runs over training"),
    FigureName(name="profile", title="What share of runs scores above which return, by settings"),
    FigureName(name="sample-efficiency", title="Scores of settings over runs and games, by step"),
    FigureName(name="together", title="Some metrics of a run over training, as lines or as shares of their sum"),
    FigureName(name="evaluations", title="Scores of a run's evaluations over its training"),
    FigureName(name="evaluation-scores", title="How many episodes of an evaluation came to which score"),
]


def curves(
    session: Session,
    runs: Sequence[Run],
    metric: str,
    look: Look,
    window: Window,
    smoothing: float,
    *,
    ancestry: bool = False,
    grouping: Grouping | None = None,
) -> Figure:
    """The curves of one metric; `window` is on the figure's axis, in seconds where that is time."""
    found = select(MetricSeries).where(MetricSeries.name == metric, MetricSeries.run_id.in_([run.id for run in runs]))
    every = {series.run_id: series for series in session.scalars(found)}
    if not every and not any(run.state in UNFINISHED for run in runs):
        raise UnknownMetric(f"None of these runs has reported {metric}.")
    before = origins(session, runs, metric, window) if ancestry else {}
    drawn = _run_curves(session, runs, every, window, smoothing, before)
    if grouping is None:
        return curves_figure(list(drawn.values()), metric, look)
    around = wider(window)
    wide = drawn if around == window else _run_curves(session, runs, every, around, smoothing, before)
    by = grouping.by
    of_group = strokes_of(groups_of(runs, by))
    members = [group for group in ([run for run in group if run.id in every] for group in groups_of(runs, by)) if group]
    groups = [
        Group(name, [replace((wide if len(group) > 1 else drawn)[run.id], stroke=of_group[run.id]) for run in group])
        for name, group in zip(group_labels(members, by), members, strict=True)
    ]
    return grouped_figure(groups, metric, look, grouping, window)


def _run_curves(
    session: Session,
    runs: Sequence[Run],
    every: Mapping[int, MetricSeries],
    window: Window,
    smoothing: float,
    before: Mapping[int, Sequence[Origin]],
) -> dict[int, RunCurve]:
    """By run that has the series, in their order."""
    views = run_views(session, list(every))
    reported = [run.id for run in runs if run.id in every]
    how = smoothings(session, [every[run_id] for run_id in reported], views, smoothing, window)
    called, drawn = labels(runs), strokes([run.id for run in runs])
    return {
        run_id: RunCurve(
            run_id,
            called[run_id],
            drawn[run_id],
            read_curve(session, every[run_id], views[run_id], window),
            each,
            before.get(run_id, ()),
        )
        for run_id, each in zip(reported, how, strict=True)
    }


def score_profile(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> Figure:
    """The performance profile of groups of runs at a step."""
    _, groups = scored_groups(session, runs, at, by)
    return profile_figure(groups, strokes_of(groups_of(runs, by)))


def sample_efficiency(session: Session, runs: Sequence[Run], center: Center, by: Sequence[str] = ()) -> Figure:
    """The sample-efficiency curve of groups of runs, over all games that each was trained in."""
    groups = groups_over_games(runs, by)
    named = group_names(groups, by) if by else names_over_games(groups)
    learners = [Learner(name, group) for name, group in zip(named, groups, strict=True)]
    return efficiency_figure(learners, trails(session, runs), strokes_of(groups_of(runs, by)), center)


def together(
    session: Session,
    run: Run,
    metrics: Collection[str],
    look: Look,
    window: Window,
    smoothing: float,
    *,
    shares: bool,
) -> Figure:
    """Some metrics of one run in one figure."""
    found = select(MetricSeries).where(MetricSeries.name.in_(metrics), MetricSeries.run_id == run.id)
    every = {series.name: series for series in session.scalars(found)}
    if not every and run.state not in UNFINISHED:
        raise UnknownMetric(f"Run {run.id} has reported none of {', '.join(metrics)}.")
    views = run_views(session, [run.id])
    how = dict(zip(every, smoothings(session, list(every.values()), views, smoothing, window), strict=True))
    return together_figure(
        [
            MetricCurve(name, read_curve(session, every[name], views[run.id], window), how[name])
            if name in every
            else MetricCurve(name, NOTHING)
            for name in metrics
        ],
        look,
        shares=shares,
    )


def evaluations(session: Session, run: Run, look: Look, window: Window, smoothing: float) -> Figure:
    """What the evaluations of a run found, upon its return in training."""
    series = session.scalar(
        select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id == run.id)
    )
    curve, how = NOTHING, UNSMOOTHED
    if series is not None:
        views = run_views(session, [run.id])
        curve = read_curve(session, series, views[run.id], window)
        (how,) = smoothings(session, [series], views, smoothing, window)
    found = [Evaluated(_place(row, window), document) for row, document in done(session, run)]
    return evaluations_figure(
        RunCurve(run.id, "Return in training", strokes([run.id])[run.id], curve, how),
        [each for each in found if window.low <= each.x <= window.high],
        look,
    )


def evaluation_scores(session: Session, evaluation_id: int) -> Figure:
    """The scores of an evaluation: those that there are so far, while it is played."""
    evaluation, job = find_evaluation(session, evaluation_id)
    color = protocol_color(evaluation.protocol, color_of(evaluation.run_id))
    found = EvaluationDocument.model_validate(evaluation.document) if job.state == "done" else None
    return scores_figure([each.score for each in episodes(session, evaluation)], found, color)


def _place(evaluation: Evaluation, window: Window) -> float:
    """Where an evaluation's checkpoint stands on the axis."""
    if window.axis == "epoch":
        return evaluation.frames / FRAMES_PER_EPOCH
    return float(evaluation.step if window.axis == "step" else evaluation.frames)

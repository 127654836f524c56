"""Figures of scores: histograms of episodes, and performance profiles."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from arcadia_backend.colors import Stroke, color_of
from arcadia_backend.comparisons.groups import group_labels, group_runs, group_samples, strokes_by_run
from arcadia_backend.comparisons.scores import GroupScores, load_episode_returns, load_group_scores
from arcadia_backend.database.tables import Run
from arcadia_backend.figures.drawing import (
    MAX_DRAWABLE,
    MAX_NAMED_LINES,
    Figure,
    as_text,
    faint,
    format_number,
    hover_mode,
    significant,
    to_json,
)
from arcadia_backend.figures.evaluation_figures import protocol_color
from arcadia_backend.job_kinds.evaluations.service import find_evaluation, list_episodes
from arcadia_backend.metrics.points import Floats
from arcadia_workers.contract.inference.means import share_interval
from arcadia_workers.contract.inference.samples import profile
from arcadia_workers.contract.protocols.document import EvaluationDocument

MIN_BARS, MAX_BARS, MAX_TICKS = 10, 40, 10
# Width of a bar as a fraction of its bin.
BAR_WIDTH = 0.92
# Top margin in pixels, for the label of the mean.
TOP_MARGIN = 24


def draw_evaluation_scores(session: Session, evaluation_id: int) -> Figure:
    """Return the histogram of an evaluation's episode scores. While it runs, return the scores so far."""
    evaluation, job = find_evaluation(session, evaluation_id)
    color = protocol_color(evaluation.protocol, color_of(evaluation.run_id))
    document = EvaluationDocument.model_validate(evaluation.document) if job.state == "done" else None
    return scores_figure([episode.score for episode in list_episodes(session, evaluation)], document, color)


def scores_figure(played: Sequence[float], document: EvaluationDocument | None, color: str) -> Figure:
    """Return the bars, and for a finished evaluation a line at the mean in its 95% interval. Empty without scores."""
    axis = {"title": {"text": "episode score"}, "type": "linear"}
    layout = go.Layout(xaxis=axis, yaxis={"title": {"text": "Episodes"}, "rangemode": "tozero"}, showlegend=False)
    scores = np.array([score for score in played if abs(score) < MAX_DRAWABLE])
    if not len(scores):
        return Figure(data=[], layout=layout.to_plotly_json())
    edges, whole = bar_borders(scores)
    layout.xaxis.range = [edges[0], edges[-1]]
    bars = _bars(scores, edges, whole, color)
    # Whole numbers need no ticks at halves.
    layout.xaxis.dtick = 1 if whole and edges[-1] - edges[0] <= MAX_TICKS else None
    layout.yaxis.dtick = 1 if max(bars.y) <= MAX_TICKS else None
    if document and abs(document.mean) < MAX_DRAWABLE:
        layout.shapes = _mean(document, color)
        layout.annotations, layout.margin.t = [_mean_label(document)], TOP_MARGIN
    return Figure(data=[to_json(bars)], layout=layout.to_plotly_json())


def _bars(scores: Floats, edges: Floats, whole: bool, color: str) -> go.Bar:
    counts, _ = np.histogram(scores, edges)
    places = zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=(np.diff(edges) * BAR_WIDTH).tolist(),
        # The mean line must be visible over its bar.
        marker={"color": color, "opacity": 0.6},
        hovertext=[describe_bar(count, low, high, whole) for count, low, high in places],
        hovertemplate="%{hovertext}<extra></extra>",
        uid="scores",
    )


def bar_borders(scores: Floats) -> tuple[Floats, bool]:
    """Return the borders of the bars, and whether all scores are whole numbers. If so, bars cover whole numbers."""
    low, high = float(scores.min()), float(scores.max())
    whole = bool((scores == np.trunc(scores)).all())
    bars = int(np.clip(_bar_count(scores), MIN_BARS, MAX_BARS))
    if whole:
        wide = int(np.ceil((high - low + 1) / bars))
        return low - 0.5 + wide * np.arange(np.ceil((high - low + 1) / wide) + 1), whole
    if low == high:
        return np.array([low - 0.5, low + 0.5]), whole
    return np.linspace(low, high, bars + 1), whole


def _bar_count(scores: Floats) -> float:
    """Return the number of bars by the rules of Freedman and Diaconis, and of Sturges. NumPy fails for far outliers."""
    sturges = math.log2(len(scores)) + 1
    lower, upper = np.percentile(scores, (25, 75))
    width = 2 * (upper - lower) / np.cbrt(len(scores))
    return max(sturges, float(scores.max() - scores.min()) / width) if width else sturges


def describe_bar(count: int, low: float, high: float, whole: bool) -> str:
    """Return the tooltip of a bar."""
    many = "1 episode" if count == 1 else f"{count:,} episodes"
    if not whole:
        return f"{many}: {format_number(low)} to {format_number(high)}"
    ends = f"{low + 0.5:.15g}" + (f" to {high - 0.5:.15g}" if high - low > 1 else "")
    return f"{many}: {ends}".replace("-", "−")


def _mean(document: EvaluationDocument, color: str) -> list[dict[str, Any]]:
    """Return a line at the mean and a band for its interval."""
    shared = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    shapes = [
        {**shared, "type": "line", "x0": document.mean, "x1": document.mean, "line": {"color": color, "dash": "dash"}}
    ]
    if document.interval is not None and all(abs(end) < MAX_DRAWABLE for end in document.interval):
        low, high = document.interval
        band = {"x0": low, "x1": high, "fillcolor": color, "opacity": 0.15, "line": {"width": 0}, "layer": "below"}
        shapes.append({**shared, "type": "rect", **band})
    return shapes


def _mean_label(document: EvaluationDocument) -> dict[str, Any]:
    """Return the label of the mean, with as many digits as the page next to the chart."""
    mean = f"{document.mean:.3g}" if abs(document.mean) < 99.95 else f"{document.mean:.0f}"
    place = {"x": document.mean, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {**place, "text": f"mean {mean}".replace("-", "−"), "showarrow": False}


def draw_episode_histogram(session: Session, runs: Sequence[Run], low: float, high: float, by: Sequence[str]) -> Figure:
    """Return the histogram of the episodes that ended between two steps, by group of runs."""
    episodes = load_episode_returns(session, runs)
    samples = group_samples(runs, by, episodes)
    groups = [[run for sample in group for run in sample] for group in samples]
    returns_of_groups = []
    for group in groups:
        parts = [
            each.returns[(each.steps >= low) & (each.steps <= high)] for each in (episodes[run.id] for run in group)
        ]
        returns = np.concatenate(parts)
        returns_of_groups.append(returns[np.abs(returns) < MAX_DRAWABLE])
    strokes = strokes_by_run(group_runs(runs, by))
    styles = [strokes[group[0].id] for group in groups]
    names = group_labels(samples, by) if len(groups) > 1 else ["Episodes"] * len(groups)
    return episode_histogram_figure(
        list(zip(names, styles, returns_of_groups, strict=True)), _describe_steps(low, high)
    )


def episode_histogram_figure(groups: Sequence[tuple[str, Stroke, Floats]], part: str = "") -> Figure:
    """Return bars over the same borders for each group. Several groups show shares, so that sizes do not matter."""
    drawn = [(name, stroke, returns) for name, stroke, returns in groups if len(returns)]
    several = len(drawn) > 1
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": f"return of an episode{part}"}, "type": "linear"},
        "yaxis": {
            "title": {"text": "Share of the episodes" if several else "Episodes"},
            "rangemode": "tozero",
            **({"tickformat": ".0%"} if several else {}),
        },
        "barmode": "overlay",
        "hovermode": "x unified" if several else "closest",
        "showlegend": several,
    }
    if not drawn:
        return Figure(data=[], layout=layout)
    edges, whole = bar_borders(np.concatenate([returns for _name, _stroke, returns in drawn]))
    layout["xaxis"]["range"] = [float(edges[0]), float(edges[-1])]
    return Figure(
        data=[
            to_json(_histogram_bars(name, stroke, returns, edges, whole=whole, shares=several))
            for name, stroke, returns in drawn
        ],
        layout=layout,
    )


def _histogram_bars(name: str, stroke: Stroke, returns: Floats, edges: Floats, *, whole: bool, shares: bool) -> go.Bar:
    counts, _ = np.histogram(returns, edges)
    places = zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    hover = [describe_bar(count, low, high, whole) for count, low, high in places]
    if shares:
        hover = [f"{count / len(returns):.1%}, {text}" for count, text in zip(counts.tolist(), hover, strict=True)]
    return go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=significant(counts / len(returns)) if shares else counts,
        width=(np.diff(edges) * BAR_WIDTH).tolist(),
        name=as_text(name),
        marker={"color": stroke.color, "opacity": 0.5 if shares else 0.8},
        hovertext=hover,
        hovertemplate="%{hovertext}" if shares else "%{hovertext}<extra></extra>",
        uid=f"episodes-{name}",
    )


def _describe_steps(low: float, high: float) -> str:
    """Return which part of training is counted."""
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(low):
        return f" up to step {high:,.0f}"
    return f" from step {low:,.0f}" + ("" if math.isinf(high) else f" to {high:,.0f}")


PLACES = 201
# Margin on either side, as a fraction of the range of scores.
MARGIN = 0.05


def draw_profile(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> Figure:
    """Return the performance profile of groups of runs at a step, in a 95% interval if they have enough seeds."""
    groups = load_group_scores(session, runs, at, by).groups
    layout = {
        "xaxis": {"title": {"text": "return"}, "type": "linear"},
        "yaxis": {"title": {"text": "share of runs above"}, "range": [-0.02, 1.02], "tickformat": ".0%"},
        "hovermode": hover_mode(len(groups)),
        "showlegend": len(groups) <= MAX_NAMED_LINES,
    }
    drawn = [group for group in groups if len(group.scores) and (np.abs(group.scores) < MAX_DRAWABLE).all()]
    if not drawn:
        return Figure(data=[], layout=layout)
    scores = np.concatenate([group.scores for group in drawn])
    low, high = float(scores.min()), float(scores.max())
    edge = (high - low) * MARGIN or max(1.0, abs(low) * MARGIN)
    returns = np.linspace(low - edge, high + edge, PLACES)
    strokes = strokes_by_run(group_runs(runs, by))
    traces = [trace for group in drawn for trace in _traces(group, returns, strokes[group.runs[0].id])]
    return Figure(data=[to_json(trace) for trace in traces], layout=layout)


def _traces(group: GroupScores, returns: Floats, stroke: Stroke) -> list[go.Scatter]:
    scores = group.scores[:, np.newaxis]
    shares = profile(scores, returns)
    shared: dict[str, Any] = {"x": returns, "mode": "lines", "legendgroup": group.name}
    line = {"color": stroke.color, "dash": stroke.dash, "shape": "hv"}
    name = as_text(f"{group.name} (n = {len(scores)})")
    texts = [f"{share:.0%} of runs above {format_number(value)}" for share, value in zip(shares, returns, strict=True)]
    traces = [
        go.Scatter(
            y=shares, name=name, line=line, uid=f"{group.name}-line", text=texts, hovertemplate="%{text}", **shared
        )
    ]
    if not group.seeds_missing:
        counts = np.round(shares * len(scores)).astype(int).tolist()
        low, high = np.array([share_interval(count, len(scores)) for count in counts]).T
        around: dict[str, Any] = {
            **shared,
            "hoverinfo": "skip",
            "showlegend": False,
            "line": {"width": 0, "shape": "hv"},
        }
        traces = [
            go.Scatter(y=low, uid=f"{group.name}-low", **around),
            go.Scatter(
                y=high,
                uid=f"{group.name}-high",
                fill="tonexty",
                fillcolor=faint(stroke.color),
                **around,
            ),
            *traces,
        ]
    return traces

"""Histogram of the returns of training episodes, of one or several groups of runs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.colors import Stroke
from backend.comparisons.groups import group_runs, group_samples, strokes_by_run
from backend.comparisons.labels import group_labels
from backend.comparisons.scores import load_episode_returns
from backend.database.tables import Run
from backend.figures.drawing import MAX_DRAWABLE, as_text, significant, to_json
from backend.figures.schemas import Figure
from backend.figures.scores_figure import BAR_WIDTH, bar_borders, describe_bar
from backend.metrics.points import Floats


def draw_episode_histogram(session: Session, runs: Sequence[Run], low: float, high: float, by: Sequence[str]) -> Figure:
    """Return the histogram of the episodes that ended between two steps, by group of runs."""
    episodes = load_episode_returns(session, runs)
    samples = group_samples(runs, by, episodes)
    groups = [[run for sample in group for run in sample] for group in samples]
    found = []
    for group in groups:
        parts = [
            each.returns[(each.steps >= low) & (each.steps <= high)] for each in (episodes[run.id] for run in group)
        ]
        returns = np.concatenate(parts)
        found.append(returns[np.abs(returns) < MAX_DRAWABLE])
    strokes = strokes_by_run(group_runs(runs, by))
    styles = [strokes[group[0].id] for group in groups]
    names = group_labels(samples, by) if len(groups) > 1 else ["Episodes"] * len(groups)
    return episode_histogram_figure(list(zip(names, styles, found, strict=True)), _describe_steps(low, high))


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
            to_json(_bars(name, stroke, returns, edges, whole=whole, shares=several)) for name, stroke, returns in drawn
        ],
        layout=layout,
    )


def _bars(name: str, stroke: Stroke, returns: Floats, edges: Floats, *, whole: bool, shares: bool) -> go.Bar:
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

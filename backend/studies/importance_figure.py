"""The importance of each axis of a study: the share of the variance of returns that it explains alone."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from backend.colors import PALETTE
from backend.figures.drawing import as_text
from backend.figures.schemas import Figure
from backend.studies.labels import axis_title
from backend.studies.results import Point
from backend.studies.specification import Specification

# Number of bins for values drawn from a range.
BINS = 4


def importance_figure(spec: Specification, points: Sequence[Point]) -> Figure:
    """Draw the importances as bars, the largest on top. The figure is empty until enough runs have finished."""
    shares = importances(spec, points)
    if not shares:
        return Figure(data=[], layout={})
    order = sorted(shares, key=lambda number: shares[number])
    bars = go.Bar(
        orientation="h",
        y=[as_text(axis_title(spec.axes[number])) for number in order],
        x=[shares[number] for number in order],
        marker={"color": PALETTE[0]},
        hovertext=[as_text(f"{axis_title(spec.axes[n])}: {100 * shares[n]:.0f} % of the variance") for n in order],
        hoverinfo="text",
        showlegend=False,
    )
    layout = {
        "xaxis": {"title": {"text": "share of the variance (ω²)"}, "range": [0, 1], "tickformat": ".0%"},
        "yaxis": {"type": "category", "automargin": True},
    }
    return Figure(data=[bars.to_plotly_json()], layout=layout)


def importances(spec: Specification, points: Sequence[Point]) -> dict[int, float]:
    """Return ω² of each axis over finished runs. Omit axes with too few of them."""
    runs = [
        (point.draw, run.score) for point in points for run in point.runs if run.is_scored and run.score is not None
    ]
    scores = np.array([score for _, score in runs])
    found = {}
    for number, axis in enumerate(spec.axes):
        places = np.array([draw[number] for draw, _ in runs])
        if axis.values is None and len(places):
            places = np.searchsorted(np.quantile(places, np.linspace(0, 1, BINS + 1)[1:-1]), places)
        share = omega_squared([scores[places == place] for place in np.unique(places)])
        if share is not None:
            found[number] = share
    return found


def omega_squared(groups: Sequence[npt.NDArray[np.float64]]) -> float | None:
    """Return ω² of a one-way analysis of variance (Hays 1963): η² corrected for chance."""
    count, all_scores = len(groups), np.concatenate([*groups]) if groups else np.empty(0)
    if count < 2 or len(all_scores) <= count:
        return None
    mean = all_scores.mean()
    total = float(((all_scores - mean) ** 2).sum())
    between = float(sum(len(group) * (group.mean() - mean) ** 2 for group in groups))
    within = (total - between) / (len(all_scores) - count)
    return max(0.0, (between - (count - 1) * within) / (total + within)) if total > 0 else None

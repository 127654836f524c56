"""The figure of one evaluation: how many of its episodes came to which score."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.figures.drawing import DRAWABLE, number, plain
from backend.figures.schemas import Figure
from backend.metrics.points import Floats
from workers.contract.protocols.document import EvaluationDocument

FEWEST_BARS, MOST_BARS, MOST_TICKS = 10, 40, 10
# What a bar takes of its place.
FILLED = 0.92
# For the words about the mean.
ROOM_ABOVE = 24


def scores_figure(played: Sequence[float], found: EvaluationDocument | None, color: str) -> Figure:
    """Bars, and once it is done the mean as a line in its 95 % interval; empty where there are no scores."""
    axis = {"title": {"text": "score of an episode"}, "type": "linear"}
    layout = go.Layout(xaxis=axis, yaxis={"title": {"text": "Episodes"}, "rangemode": "tozero"}, showlegend=False)
    scores = np.array([score for score in played if abs(score) < DRAWABLE])
    if not len(scores):
        return Figure(data=[], layout=layout.to_plotly_json())
    edges, whole = _borders(scores)
    layout.xaxis.range = [edges[0], edges[-1]]
    bars = _bars(scores, edges, whole, color)
    # No tick stands at a half of what is counted in ones.
    layout.xaxis.dtick = 1 if whole and edges[-1] - edges[0] <= MOST_TICKS else None
    layout.yaxis.dtick = 1 if max(bars.y) <= MOST_TICKS else None
    if found and abs(found.mean) < DRAWABLE:
        layout.shapes = _mean(found, color)
        layout.annotations, layout.margin.t = [_mean_in_words(found)], ROOM_ABOVE
    return Figure(data=[plain(bars)], layout=layout.to_plotly_json())


def _bars(scores: Floats, edges: Floats, whole: bool, color: str) -> go.Bar:
    counts, _ = np.histogram(scores, edges)
    places = zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=(np.diff(edges) * FILLED).tolist(),
        # So that the mean is seen upon its bar.
        marker={"color": color, "opacity": 0.6},
        hovertext=[_in_words(count, low, high, whole) for count, low, high in places],
        hovertemplate="%{hovertext}<extra></extra>",
        uid="scores",
    )


def _borders(scores: Floats) -> tuple[Floats, bool]:
    """The borders of the bars, and whether the scores are whole: then each bar is of a whole number, or of some."""
    low, high = float(scores.min()), float(scores.max())
    whole = bool((scores == np.trunc(scores)).all())
    bars = int(np.clip(len(np.histogram_bin_edges(scores, "auto")) - 1, FEWEST_BARS, MOST_BARS))
    if whole:
        wide = int(np.ceil((high - low + 1) / bars))
        return low - 0.5 + wide * np.arange(np.ceil((high - low + 1) / wide) + 1), whole
    if low == high:
        return np.array([low - 0.5, low + 0.5]), whole
    return np.linspace(low, high, bars + 1), whole


def _in_words(count: int, low: float, high: float, whole: bool) -> str:
    many = "1 episode" if count == 1 else f"{count} episodes"
    if not whole:
        return f"{many}: {number(low)} to {number(high)}"
    ends = f"{low + 0.5:.15g}" + (f" to {high - 0.5:.15g}" if high - low > 1 else "")
    return f"{many}: {ends}".replace("-", "−")


def _mean(found: EvaluationDocument, color: str) -> list[dict[str, Any]]:
    """A line through the mean, in the band of its interval."""
    shared = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    shapes = [{**shared, "type": "line", "x0": found.mean, "x1": found.mean, "line": {"color": color, "dash": "dash"}}]
    if found.interval is not None and all(abs(end) < DRAWABLE for end in found.interval):
        low, high = found.interval
        band = {"x0": low, "x1": high, "fillcolor": color, "opacity": 0.15, "line": {"width": 0}, "layer": "below"}
        shapes.append({**shared, "type": "rect", **band})
    return shapes


def _mean_in_words(found: EvaluationDocument) -> dict[str, Any]:
    """In as few digits as the page tells it beside the chart."""
    mean = f"{found.mean:.3g}" if abs(found.mean) < 99.95 else f"{found.mean:.0f}"
    place = {"x": found.mean, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {**place, "text": f"mean {mean}".replace("-", "−"), "showarrow": False}

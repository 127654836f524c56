"""Histogram of the episode scores of one evaluation."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.colors import color_of
from backend.evaluations.service import find_evaluation, list_episodes
from backend.figures.drawing import MAX_DRAWABLE, format_number, to_json
from backend.figures.evaluations_figure import protocol_color
from backend.figures.schemas import Figure
from backend.metrics.points import Floats
from workers.contract.protocols.document import EvaluationDocument

MIN_BARS, MAX_BARS, MAX_TICKS = 10, 40, 10
# Width of a bar as a fraction of its bin.
BAR_WIDTH = 0.92
# Top margin in pixels, for the label of the mean.
TOP_MARGIN = 24


def draw_evaluation_scores(session: Session, evaluation_id: int) -> Figure:
    """Return the histogram of an evaluation's episode scores. While it runs, return the scores so far."""
    evaluation, job = find_evaluation(session, evaluation_id)
    color = protocol_color(evaluation.protocol, color_of(evaluation.run_id))
    found = EvaluationDocument.model_validate(evaluation.document) if job.state == "done" else None
    return scores_figure([episode.score for episode in list_episodes(session, evaluation)], found, color)


def scores_figure(played: Sequence[float], found: EvaluationDocument | None, color: str) -> Figure:
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
    if found and abs(found.mean) < MAX_DRAWABLE:
        layout.shapes = _mean(found, color)
        layout.annotations, layout.margin.t = [_mean_label(found)], TOP_MARGIN
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


def _mean(found: EvaluationDocument, color: str) -> list[dict[str, Any]]:
    """Return a line at the mean and a band for its interval."""
    shared = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    shapes = [{**shared, "type": "line", "x0": found.mean, "x1": found.mean, "line": {"color": color, "dash": "dash"}}]
    if found.interval is not None and all(abs(end) < MAX_DRAWABLE for end in found.interval):
        low, high = found.interval
        band = {"x0": low, "x1": high, "fillcolor": color, "opacity": 0.15, "line": {"width": 0}, "layer": "below"}
        shapes.append({**shared, "type": "rect", **band})
    return shapes


def _mean_label(found: EvaluationDocument) -> dict[str, Any]:
    """Return the label of the mean, with as many digits as the page shows beside the chart."""
    mean = f"{found.mean:.3g}" if abs(found.mean) < 99.95 else f"{found.mean:.0f}"
    place = {"x": found.mean, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {**place, "text": f"mean {mean}".replace("-", "−"), "showarrow": False}

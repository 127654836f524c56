"""The performance profile of some groups of runs: what share of each scores above which return."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.colors import Stroke
from backend.comparisons.scores import Scored
from backend.comparisons.statistics import Floats, interval, profile
from backend.figures.drawing import DRAWABLE, as_text, faint, number, plain
from backend.figures.schemas import Figure

PLACES = 201
# Of the way from the least to the greatest score, on either side.
EDGE = 0.05


def profile_figure(groups: Sequence[Scored], strokes: Mapping[int, Stroke]) -> Figure:
    """A line a group, in its 95 % interval where the group has enough seeds; empty where there are no scores."""
    layout = {
        "xaxis": {"title": {"text": "return"}, "type": "linear"},
        "yaxis": {"title": {"text": "share of runs with more"}, "range": [-0.02, 1.02], "tickformat": ".0%"},
        "hovermode": "x unified",
        "showlegend": True,
    }
    drawn = [group for group in groups if len(group.scores) and (np.abs(group.scores) < DRAWABLE).all()]
    if not drawn:
        return Figure(data=[], layout=layout)
    returns = _returns(np.concatenate([group.scores for group in drawn]))
    traces = [trace for group in drawn for trace in _traces(group, returns, strokes[group.runs[0].id])]
    return Figure(data=[plain(trace) for trace in traces], layout=layout)


def _returns(scores: Floats) -> Floats:
    low, high = float(scores.min()), float(scores.max())
    edge = (high - low) * EDGE or max(1.0, abs(low) * EDGE)
    return np.linspace(low - edge, high + edge, PLACES)


def _traces(group: Scored, returns: Floats, stroke: Stroke) -> list[go.Scatter]:
    scores = group.scores[:, np.newaxis]
    shares = profile(scores, returns)
    shared: dict[str, Any] = {"x": returns, "mode": "lines", "legendgroup": group.name}
    line = {"color": stroke.color, "dash": stroke.dash, "shape": "hv"}
    name = as_text(f"{group.name} (n = {len(scores)})")
    said = [f"{share:.0%} of runs above {number(value)}" for share, value in zip(shares, returns, strict=True)]
    traces = [
        go.Scatter(
            y=shares, name=name, line=line, uid=f"{group.name}-line", text=said, hovertemplate="%{text}", **shared
        )
    ]
    if not group.missing:
        found = interval(partial(profile, thresholds=returns), scores)
        around: dict[str, Any] = {
            **shared,
            "hoverinfo": "skip",
            "showlegend": False,
            "line": {"width": 0, "shape": "hv"},
        }
        traces = [
            go.Scatter(y=found.low, uid=f"{group.name}-low", **around),
            go.Scatter(
                y=found.high,
                uid=f"{group.name}-high",
                fill="tonexty",
                fillcolor=faint(stroke.color),
                **around,
            ),
            *traces,
        ]
    return traces

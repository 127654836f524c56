"""Performance profile of groups of runs: the share of runs above each return."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.colors import Stroke
from backend.comparisons.groups import group_runs, strokes_by_run
from backend.comparisons.scores import GroupScores, load_group_scores
from backend.database.tables import Run
from backend.figures.drawing import MAX_DRAWABLE, as_text, faint, format_number, to_json
from backend.figures.schemas import Figure
from workers.contract.inference.means import Floats, share_interval
from workers.contract.inference.samples import profile

PLACES = 201
# Margin on either side, as a fraction of the range of scores.
MARGIN = 0.05


def draw_profile(session: Session, runs: Sequence[Run], at: int | None, by: Sequence[str] = ()) -> Figure:
    """Return the performance profile of groups of runs at a step."""
    _, groups = load_group_scores(session, runs, at, by)
    return profile_figure(groups, strokes_by_run(group_runs(runs, by)))


def profile_figure(groups: Sequence[GroupScores], strokes: Mapping[int, Stroke]) -> Figure:
    """Return a line for each group, in its 95% interval if the group has enough seeds. Empty without scores."""
    layout = {
        "xaxis": {"title": {"text": "return"}, "type": "linear"},
        "yaxis": {"title": {"text": "share of runs above"}, "range": [-0.02, 1.02], "tickformat": ".0%"},
        "hovermode": "x unified",
        "showlegend": True,
    }
    drawn = [group for group in groups if len(group.scores) and (np.abs(group.scores) < MAX_DRAWABLE).all()]
    if not drawn:
        return Figure(data=[], layout=layout)
    returns = _returns(np.concatenate([group.scores for group in drawn]))
    traces = [trace for group in drawn for trace in _traces(group, returns, strokes[group.runs[0].id])]
    return Figure(data=[to_json(trace) for trace in traces], layout=layout)


def _returns(scores: Floats) -> Floats:
    low, high = float(scores.min()), float(scores.max())
    edge = (high - low) * MARGIN or max(1.0, abs(low) * MARGIN)
    return np.linspace(low - edge, high + edge, PLACES)


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

"""Figure of percentiles over the runs of a group: the median in bands of 25 to 75 and of 10 to 90 percent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.figures.curves_figure import RunCurve, curves_layout, line_trace, run_traces
from backend.figures.drawing import Look, faint, to_figure
from backend.figures.groups import RunGroup, heights_at, shared_places
from backend.figures.schemas import Figure
from backend.figures.sizes import format_value
from backend.metrics.buckets import Curve
from backend.metrics.curves import Window
from backend.metrics.points import Floats
from workers.contract.metrics import named

PERCENTILES = (10, 25, 50, 75, 90)


def percentiles_figure(groups: Sequence[RunGroup], metric: str, look: Look, window: Window) -> Figure:
    """Return the figure of one metric. A group of one run is drawn as its curve."""
    unit = named(metric).unit
    parts: list[Curve] = []
    traces: list[go.Scatter] = []
    for group in groups:
        first = group.runs[0]
        if len(group.runs) == 1:
            parts.append(first.curve)
            traces.extend(run_traces(first, look, unit))
        else:
            lines = group.lines
            x = shared_places(lines, window)
            heights = heights_at(lines, x)
            found = _percentiles(heights)
            parts.append(Curve(False, len(x), x, found[2], found[0], found[-1], found[2], np.ones(len(x), np.int64)))
            if len(x):
                traces.extend(_traces(group, first, x, found, np.isfinite(heights).sum(axis=0).tolist(), unit))
    layout = curves_layout(parts, metric, look, legend=True)
    if any(len(group.runs) > 1 for group in groups):
        layout.yaxis.title.text += ", median with 25–75 % and 10–90 % of the runs"
    return to_figure(traces, layout)


def _percentiles(heights: Floats) -> Floats:
    """Return a row for each percentile. Runs count between their first and their last point."""
    if not heights.size:
        return np.empty((len(PERCENTILES), heights.shape[1]))
    return np.asarray(np.nanpercentile(heights, PERCENTILES, axis=0))


def _traces(
    group: RunGroup, first: RunCurve, x: Floats, found: Floats, counts: Sequence[int], unit: str
) -> list[go.Scatter]:
    shared: dict[str, Any] = {"legendgroup": str(first.run_id)}
    band = {**shared, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    filled = {"fill": "tonexty", "fillcolor": faint(first.stroke.color)}
    meta = {"run_id": first.run_id, "group": [run.run_id for run in group.runs]}
    traces = []
    for low, high in ((0, -1), (1, -2)):
        for row, more in ((low, {}), (high, filled)):
            part = f"p{PERCENTILES[row]}"
            uid = f"{first.run_id}-{part}"
            traces.append(go.Scatter(x=x, y=found[row], uid=uid, meta={**meta, "part": part}, **more, **band))
    hover = {"text": _hover(found, counts, len(group.samples), unit), "hovertemplate": "%{text}"}
    line = line_trace(first, x, found[2], "line", name=group.name, **hover)
    return [*traces, line.update(meta={**line.meta, **meta})]


def _hover(found: Floats, counts: Sequence[int], samples: int, unit: str) -> list[str]:
    """Return tooltips: the median, both bands, and n where some samples are missing."""
    texts = []
    for values, n in zip(found.T, counts, strict=True):
        lowest, low, middle, high, highest = (format_value(value, unit) for value in values)
        missing = f", n = {n} here" if n < samples else ""
        texts.append(f"{middle} [{low}, {high}], 10–90 %: [{lowest}, {highest}]{missing}")
    return texts

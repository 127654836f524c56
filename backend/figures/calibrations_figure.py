"""Figure of calibrations during training: the error of the critic of one or several runs, by step."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.calibrations.service import list_finished
from backend.colors import Stroke, strokes
from backend.comparisons.labels import run_labels
from backend.database.tables import Calibration, Run
from backend.figures.drawing import (
    MAX_DRAWABLE,
    Look,
    as_text,
    error_bars,
    format_interval,
    format_number,
    significant,
    to_figure,
    x_axis,
    y_axis,
)
from backend.figures.evaluations_figure import locate
from backend.figures.schemas import Figure
from backend.metrics.curves import Window
from backend.metrics.points import Floats
from workers.contract.calibrations import CalibrationErrors, Regret
from workers.contract.futures import Interval

Measure = Literal["bias", "rmse", "correlation", "skill", "regret"]
TITLES: dict[Measure, str] = {
    "bias": "Bias: value − mean return",
    "rmse": "RMSE of the value",
    "correlation": "Correlation with returns",
    "skill": "Skill against a constant",
    "regret": "Regret of the chosen action",
}


def draw_calibrations(session: Session, runs: Sequence[Run], measure: Measure, look: Look, window: Window) -> Figure:
    """Return one measure of each run's calibrations, with its 95 % interval if it has one."""
    names, styles = run_labels(runs), strokes([run.id for run in runs])
    traces, heights = [], []
    for run in runs:
        points = _points(list_finished(session, run), measure, window)
        if len(points):
            # With the ends of the intervals, so that they are not cut off.
            heights.append(points[:, 1:].ravel())
            traces.append(_trace(run.id, names[run.id], styles[run.id], points, measure))
    layout = go.Layout(
        xaxis={**x_axis([np.array(trace.x) for trace in traces], look.axis, look.x_log), "rangemode": "tozero"},
        yaxis={
            "title": {"text": TITLES[measure]},
            **y_axis(heights, look.y_log, clip=look.clip),
            "zeroline": True,
        },
        hovermode="closest",
        showlegend=len(runs) > 1,
    )
    return to_figure(traces, layout)


def _points(found: Sequence[tuple[Calibration, CalibrationErrors]], measure: Measure, window: Window) -> Floats:
    """Return x, value, and the ends of the interval of each calibration that can be drawn."""
    rows = []
    for calibration, errors in found:
        x, ends = locate(calibration, window), _ends(errors, measure)
        if ends is not None and window.low <= x <= window.high and all(abs(end) < MAX_DRAWABLE for end in ends):
            rows.append((x, *ends))
    return np.array(rows)


def _ends(errors: CalibrationErrors, measure: Measure) -> tuple[float, float, float] | None:
    """Return a measure and the ends of its interval, which are the measure itself without an interval."""
    value, interval = _measured(errors, measure)
    return None if value is None else (value, *(interval or (value, value)))


def _measured(errors: CalibrationErrors, measure: Measure) -> tuple[float | None, Interval | None]:
    if measure == "regret":
        return _middle(errors.regret)
    return getattr(errors, measure), getattr(errors, f"{measure}_interval")


def _middle(regret: Regret | None) -> tuple[float | None, Interval | None]:
    """Return the interval of a regret with its middle, because there is no unbiased estimate."""
    if regret is None:
        return None, None
    low, high = regret.interval or (regret.at_least, regret.at_most)
    return (low + high) / 2, (low, high)


def _trace(run_id: int, name: str, stroke: Stroke, points: Floats, measure: Measure) -> go.Scatter:
    x, y, low, high = points.T
    has_intervals = bool((low < high).any())
    return go.Scatter(
        x=x,
        y=significant(y),
        error_y=error_bars(y, low, high) if has_intervals else None,
        mode="lines+markers",
        line={"color": stroke.color, "dash": stroke.dash, "width": 1.5},
        marker={"color": stroke.color, "size": 8},
        name=as_text(name),
        text=[_hover(row, measure) for row in points.tolist()],
        hovertemplate="%{text}",
        uid=f"{run_id}-{measure}",
        meta={"run_id": run_id},
    )


def _hover(point: Sequence[float], measure: Measure) -> str:
    x, y, low, high = point
    return f"{x:,.0f}: {measure} {format_number(y)}{format_interval(low, high)}"

"""Figure of one calibration: the mean return of the futures against the value that the critic predicted."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from sqlalchemy.orm import Session

from backend.calibrations.service import find_calibration
from backend.colors import color_of
from backend.figures.drawing import MAX_DRAWABLE, error_bars, format_interval, format_number, significant, to_figure
from backend.figures.schemas import Figure
from workers.contract.calibrations import CalibrationBin, CalibrationDocument, JudgedMoment

DIAGONAL = "#888888"
# Space around the points, as a share of their range.
MARGIN = 0.06


def draw_calibration(session: Session, calibration_id: int) -> Figure:
    """Return the plot of a calibration. Empty until it is done."""
    calibration, job = find_calibration(session, calibration_id)
    if job.state != "done" or calibration.document is None:
        return Figure(data=[], layout={})
    return calibration_figure(CalibrationDocument.model_validate(calibration.document), color_of(calibration.run_id))


def calibration_figure(document: CalibrationDocument, color: str) -> Figure:
    """Return the judged decisions, their bins with intervals, and the line of a perfect critic."""
    moments = [each for each in document.moments if _drawable(each)]
    bins = [each for each in document.bins if _drawable(each)]
    axis = {"type": "linear", "zeroline": False}
    layout = go.Layout(
        xaxis={**axis, "title": {"text": "predicted value"}},
        yaxis={**axis, "title": {"text": "Mean return of the futures"}},
        hovermode="closest",
        showlegend=True,
    )
    if not moments:
        return to_figure([], layout)
    # The axes differ, so that values within a narrow range do not lie on one line.
    values = _range([each.value for each in moments])
    layout.xaxis.range = values
    layout.yaxis.range = _range(
        [*values, *(each.mean for each in moments), *(end for one in bins for end in _ends(one))]
    )
    diagonal = go.Scatter(
        x=np.array(values),
        y=np.array(values),
        mode="lines",
        line={"color": DIAGONAL, "dash": "dash", "width": 1.5},
        hoverinfo="skip",
        name="perfect critic",
        uid="diagonal",
    )
    return to_figure([diagonal, _moments(moments, color), _bins(bins, color)], layout)


def _drawable(point: JudgedMoment | CalibrationBin) -> bool:
    return all(math.isfinite(each) and abs(each) < MAX_DRAWABLE for each in (point.value, *_ends(point)))


def _ends(point: JudgedMoment | CalibrationBin) -> tuple[float, float, float]:
    return (point.mean, *(point.interval or (point.mean, point.mean)))


def _range(places: Sequence[float]) -> list[float]:
    """Return the range of an axis with these points."""
    low, high = min(places), max(places)
    space = (high - low) * MARGIN or 1.0
    return [low - space, high + space]


def _moments(moments: Sequence[JudgedMoment], color: str) -> go.Scatter:
    return go.Scatter(
        x=significant(np.array([each.value for each in moments])),
        y=significant(np.array([each.mean for each in moments])),
        mode="markers",
        marker={"color": color, "size": 6, "opacity": 0.35},
        name="decisions",
        text=[f"episode {each.episode}, decision {each.decision + 1:,}: {_hover(each)}" for each in moments],
        hovertemplate="%{text}<extra></extra>",
        uid="moments",
    )


def _bins(bins: Sequence[CalibrationBin], color: str) -> go.Scatter:
    means, low, high = np.array([_ends(each) for each in bins]).T
    return go.Scatter(
        x=significant(np.array([each.value for each in bins])),
        y=significant(means),
        error_y=error_bars(means, low, high),
        mode="markers",
        marker={"color": color, "size": 9},
        name="bins, with 95 % intervals",
        text=[f"{each.count} decisions: {_hover(each)}" for each in bins],
        hovertemplate="%{text}<extra></extra>",
        uid="bins",
    )


def _hover(point: JudgedMoment | CalibrationBin) -> str:
    mean, low, high = _ends(point)
    return f"value {format_number(point.value)}, mean return {format_number(mean)}{format_interval(low, high)}"

"""Figures of a run's evaluations and calibrations during training, and of one calibration."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.colors import PALETTE, Stroke, color_of, strokes
from arcadia_backend.comparisons.groups import run_labels
from arcadia_backend.database.tables import Calibration, Evaluation, Run
from arcadia_backend.figures.curves_figure import UNSMOOTHED, RunCurve, curves_figure, read_smoothed_curves
from arcadia_backend.figures.drawing import (
    MAX_DRAWABLE,
    Figure,
    Look,
    as_text,
    error_bars,
    format_interval,
    format_number,
    significant,
    to_figure,
    to_json,
    x_axis,
    y_axis,
)
from arcadia_backend.job_kinds.calibrations import find_calibration, list_finished_calibrations
from arcadia_backend.job_kinds.evaluations.service import list_finished
from arcadia_backend.metrics.points import Floats, MetricSeries
from arcadia_backend.metrics.queries import FRAMES_PER_EPOCH, Window
from arcadia_backend.metrics.reading import NO_CURVE
from arcadia_workers.contract.futures import (
    CalibrationBin,
    CalibrationDocument,
    CalibrationErrors,
    Interval,
    JudgedMoment,
)
from arcadia_workers.contract.metrics import EPISODE_RETURN
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EvaluationDocument

# Protocols are distinguishable without colors.
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")


@dataclass(frozen=True)
class EvaluationPoint:
    """The result of an evaluation, and the x of its checkpoint."""

    x: float
    document: EvaluationDocument


def draw_evaluations(session: Session, run: Run, look: Look, window: Window, smoothing: float) -> Figure:
    """Return the scores of a run's evaluations over its training return."""
    series = session.scalars(
        select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id == run.id)
    ).all()
    curve, how = next(iter(read_smoothed_curves(session, series, window, smoothing)), (NO_CURVE, UNSMOOTHED))
    points = [EvaluationPoint(locate(row, window), document) for row, document in list_finished(session, run)]
    trained = RunCurve(run.id, "Training return", strokes([run.id])[run.id], curve, how)
    figure = curves_figure([trained], EPISODE_RETURN, look)
    # A NaN mean appears only in the list of evaluations.
    visible = [point for point in points if window.low <= point.x <= window.high]
    drawn = [each for each in visible if (np.abs(_ends(each.document)) < MAX_DRAWABLE).all()]
    heights = [trained.curve.min, trained.curve.max, *(_ends(each.document) for each in drawn)]
    figure.layout["yaxis"] = {"title": {"text": "Score"}, **y_axis(heights, look.y_log, clip=look.clip)}
    if not len(trained.curve.x):
        # Otherwise Plotly shows negative and fractional steps around a single evaluation.
        figure.layout["xaxis"]["rangemode"] = "tozero"
    for name in dict.fromkeys([*PROTOCOLS, *(each.document.protocol for each in drawn)]):
        if mine := [each for each in drawn if each.document.protocol == name]:
            figure.data.append(to_json(_means(name, mine, trained)))
    return figure


def locate(result: Evaluation | Calibration, window: Window) -> float:
    """Return the x of the checkpoint of a result."""
    if window.axis == "epoch":
        return result.frames / FRAMES_PER_EPOCH
    return float(result.step if window.axis == "step" else result.frames)


def protocol_color(name: str, run_color: str) -> str:
    """Return the color of a protocol's scores. It differs from that of the run's curve."""
    others = [color for color in PALETTE if color != run_color]
    return others[_index(name) % len(others)]


def _index(protocol: str) -> int:
    """Return the index of a protocol. Protocols of missing plug-ins share the last one."""
    known = list(PROTOCOLS)
    return known.index(protocol) if protocol in known else len(known)


def _ends(document: EvaluationDocument) -> Floats:
    """Return the mean and the ends of its interval. A single episode has no interval, so its ends are the mean."""
    return np.array([document.mean, *(document.interval or (document.mean, document.mean))])


def _means(name: str, evaluated: Sequence[EvaluationPoint], trained: RunCurve) -> go.Scatter:
    means, low, high = np.array([_ends(each.document) for each in evaluated]).T
    return go.Scatter(
        x=np.array([each.x for each in evaluated]),
        y=significant(means),
        error_y=error_bars(means, low, high),
        mode="markers",
        marker={
            "color": protocol_color(name, trained.stroke.color),
            "symbol": SYMBOLS[_index(name) % len(SYMBOLS)],
            "size": 9,
        },
        name=as_text(name),
        text=[_hover(each.document) for each in evaluated],
        hovertemplate="%{text}",
        uid=f"{trained.run_id}-{name}",
        meta={"run_id": trained.run_id, "protocol": name},
    )


def _hover(document: EvaluationDocument) -> str:
    """Return the tooltip of a mean."""
    between = (
        f" ({format_number(document.interval[0])} to {format_number(document.interval[1])})"
        if document.interval
        else ""
    )
    many = "1 episode" if len(document.scores) == 1 else f"{len(document.scores)} episodes"
    return f"{format_number(document.mean)}{between}, {many}, {document.acting}"


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
    calibrations = list_finished_calibrations(session, runs)
    traces, heights = [], []
    for run in runs:
        points = _points(calibrations[run.id], measure, window)
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


def _points(calibrations: Sequence[tuple[Calibration, CalibrationErrors]], measure: Measure, window: Window) -> Floats:
    """Return x, value, and the ends of the interval of each calibration that can be drawn."""
    rows = []
    for calibration, errors in calibrations:
        value, interval = _measured(errors, measure)
        if value is None:
            continue
        x, ends = locate(calibration, window), interval or (value, value)
        if window.low <= x <= window.high and all(abs(y) < MAX_DRAWABLE for y in (value, *ends)):
            rows.append((x, value, *ends))
    return np.array(rows)


def _measured(errors: CalibrationErrors, measure: Measure) -> tuple[float | None, Interval | None]:
    if measure == "regret":
        if errors.regret is None:
            return None, None
        # There is no unbiased estimate of a regret, so draw the middle of its interval.
        low, high = errors.regret.interval or (errors.regret.at_least, errors.regret.at_most)
        return (low + high) / 2, (low, high)
    if measure == "rmse":
        return errors.rmse, None
    return getattr(errors, measure), getattr(errors, f"{measure}_interval")


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
        text=[_calibrations_hover(row, measure) for row in points.tolist()],
        hovertemplate="%{text}",
        uid=f"{run_id}-{measure}",
        meta={"run_id": run_id},
    )


def _calibrations_hover(point: Sequence[float], measure: Measure) -> str:
    x, y, low, high = point
    return f"{x:,.0f}: {measure} {format_number(y)}{format_interval(low, high)}"


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
        [*values, *(each.mean for each in moments), *(end for one in bins for end in _calibration_ends(one))]
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
    return all(math.isfinite(each) and abs(each) < MAX_DRAWABLE for each in (point.value, *_calibration_ends(point)))


def _calibration_ends(point: JudgedMoment | CalibrationBin) -> tuple[float, float, float]:
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
        text=[
            f"episode {each.episode}, decision {each.decision + 1:,}: {_calibration_hover(each)}" for each in moments
        ],
        hovertemplate="%{text}<extra></extra>",
        uid="moments",
    )


def _bins(bins: Sequence[CalibrationBin], color: str) -> go.Scatter:
    means, low, high = np.array([_calibration_ends(each) for each in bins]).T
    return go.Scatter(
        x=significant(np.array([each.value for each in bins])),
        y=significant(means),
        error_y=error_bars(means, low, high),
        mode="markers",
        marker={"color": color, "size": 9},
        name="bins, with 95 % intervals",
        text=[f"{each.count} decisions: {_calibration_hover(each)}" for each in bins],
        hovertemplate="%{text}<extra></extra>",
        uid="bins",
    )


def _calibration_hover(point: JudgedMoment | CalibrationBin) -> str:
    mean, low, high = _calibration_ends(point)
    return f"value {format_number(point.value)}, mean return {format_number(mean)}{format_interval(low, high)}"

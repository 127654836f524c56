"""Figure of a run's evaluations: mean scores during training, over the training return."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import PALETTE, strokes
from backend.database.tables import Calibration, Evaluation, Run
from backend.evaluations.service import list_finished
from backend.figures.curves_figure import RunCurve, curves_figure
from backend.figures.drawing import MAX_DRAWABLE, Look, as_text, error_bars, format_number, significant, to_json, y_axis
from backend.figures.schemas import Figure
from backend.figures.smoothing import UNSMOOTHED, read_smoothed_curves
from backend.metrics.buckets import NO_CURVE
from backend.metrics.curves import FRAMES_PER_EPOCH, Window
from backend.metrics.models import MetricSeries
from backend.metrics.points import Floats
from workers.contract.metrics import EPISODE_RETURN
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument

# Protocols are distinguishable without colors.
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")


@dataclass(frozen=True)
class EvaluationPoint:
    """The result of an evaluation, and the x of its checkpoint."""

    x: float
    found: EvaluationDocument


def draw_evaluations(session: Session, run: Run, look: Look, window: Window, smoothing: float) -> Figure:
    """Return the scores of a run's evaluations over its training return."""
    series = session.scalars(
        select(MetricSeries).where(MetricSeries.name == EPISODE_RETURN, MetricSeries.run_id == run.id)
    ).all()
    curve, how = next(iter(read_smoothed_curves(session, series, window, smoothing)), (NO_CURVE, UNSMOOTHED))
    points = [EvaluationPoint(locate(row, window), document) for row, document in list_finished(session, run)]
    return evaluations_figure(
        RunCurve(run.id, "Training return", strokes([run.id])[run.id], curve, how),
        [point for point in points if window.low <= point.x <= window.high],
        look,
    )


def locate(result: Evaluation | Calibration, window: Window) -> float:
    """Return the x of the checkpoint of a result."""
    if window.axis == "epoch":
        return result.frames / FRAMES_PER_EPOCH
    return float(result.step if window.axis == "step" else result.frames)


def evaluations_figure(trained: RunCurve, evaluated: Sequence[EvaluationPoint], look: Look) -> Figure:
    """Return means with their 95% intervals, in a color and a symbol for each protocol."""
    figure = curves_figure([trained], EPISODE_RETURN, look)
    # A NaN mean appears only in the list of evaluations.
    drawn = [each for each in evaluated if (np.abs(_ends(each.found)) < MAX_DRAWABLE).all()]
    heights = [trained.curve.min, trained.curve.max, *(_ends(each.found) for each in drawn)]
    figure.layout["yaxis"] = {"title": {"text": "Score"}, **y_axis(heights, look.y_log, clip=look.clip)}
    if not len(trained.curve.x):
        # Otherwise Plotly shows negative and fractional steps around a single evaluation.
        figure.layout["xaxis"]["rangemode"] = "tozero"
    for name in dict.fromkeys([*PROTOCOLS, *(each.found.protocol for each in drawn)]):
        if mine := [each for each in drawn if each.found.protocol == name]:
            figure.data.append(to_json(_means(name, mine, trained)))
    return figure


def protocol_color(name: str, run_color: str) -> str:
    """Return the color of a protocol's scores. It differs from that of the run's curve."""
    others = [color for color in PALETTE if color != run_color]
    return others[_index(name) % len(others)]


def _index(protocol: str) -> int:
    """Return the index of a protocol. Protocols of missing plug-ins share the last one."""
    known = list(PROTOCOLS)
    return known.index(protocol) if protocol in known else len(known)


def _ends(found: EvaluationDocument) -> Floats:
    """Return the mean and the ends of its interval. A single episode has no interval, so its ends are the mean."""
    return np.array([found.mean, *(found.interval or (found.mean, found.mean))])


def _means(name: str, evaluated: Sequence[EvaluationPoint], trained: RunCurve) -> go.Scatter:
    means, low, high = np.array([_ends(each.found) for each in evaluated]).T
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
        text=[_hover(each.found) for each in evaluated],
        hovertemplate="%{text}",
        uid=f"{trained.run_id}-{name}",
        meta={"run_id": trained.run_id, "protocol": name},
    )


def _hover(found: EvaluationDocument) -> str:
    """Return the tooltip of a mean."""
    between = f" ({format_number(found.interval[0])} to {format_number(found.interval[1])})" if found.interval else ""
    many = "1 episode" if len(found.scores) == 1 else f"{len(found.scores)} episodes"
    return f"{format_number(found.mean)}{between}, {many}, {found.acting}"

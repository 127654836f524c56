"""The figure of a run's evaluations: their means over training, upon the return in training."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from backend.colors import PALETTE
from backend.figures.curves_figure import RunCurve, curves_figure
from backend.figures.drawing import DRAWABLE, Look, as_text, number, plain, significant, y_axis
from backend.figures.schemas import Figure
from backend.metrics.points import Floats
from workers.contract.metrics import EPISODE_RETURN
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument

# So that protocols can be told apart without their colours.
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation found, and where on the axis its checkpoint stands."""

    x: float
    found: EvaluationDocument


def evaluations_figure(trained: RunCurve, evaluated: Sequence[Evaluated], look: Look) -> Figure:
    """Means with their 95 % intervals, a colour and a sign each protocol."""
    figure = curves_figure([trained], EPISODE_RETURN, look)
    # A mean that is no number is in the list of evaluations alone.
    drawn = [each for each in evaluated if (np.abs(_ends(each.found)) < DRAWABLE).all()]
    heights = [trained.curve.min, trained.curve.max, *(_ends(each.found) for each in drawn)]
    figure.layout["yaxis"] = {"title": {"text": "Score"}, **y_axis(heights, look.y_log)}
    if not len(trained.curve.x):
        # Steps before 0, and halves of them, would stand around a single evaluation.
        figure.layout["xaxis"]["rangemode"] = "tozero"
    for name in PROTOCOLS:
        if mine := [each for each in drawn if each.found.protocol == name]:
            figure.data.append(plain(_means(name, mine, trained)))
    return figure


def protocol_color(name: str, run_color: str) -> str:
    """The colour of a protocol's scores, which is not that of the run's curve."""
    others = [color for color in PALETTE if color != run_color]
    return others[list(PROTOCOLS).index(name) % len(others)]


def _ends(found: EvaluationDocument) -> Floats:
    """The mean and its interval; of a single episode, which has none, the mean alone."""
    return np.array([found.mean, *(found.interval or (found.mean, found.mean))])


def _means(name: str, evaluated: Sequence[Evaluated], trained: RunCurve) -> go.Scatter:
    means, low, high = np.array([_ends(each.found) for each in evaluated]).T
    return go.Scatter(
        x=np.array([each.x for each in evaluated]),
        y=significant(means),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": significant(high - means).tolist(),
            "arrayminus": significant(means - low).tolist(),
            "thickness": 1.5,
            "width": 4,
        },
        mode="markers",
        marker={
            "color": protocol_color(name, trained.stroke.color),
            "symbol": SYMBOLS[list(PROTOCOLS).index(name) % len(SYMBOLS)],
            "size": 9,
        },
        name=as_text(name),
        text=[_in_words(each.found) for each in evaluated],
        hovertemplate="%{text}",
        uid=f"{trained.run_id}-{name}",
        meta={"run_id": trained.run_id, "protocol": name},
    )


def _in_words(found: EvaluationDocument) -> str:
    """A mean, as a pointer over it tells."""
    between = f" ({number(found.interval[0])} to {number(found.interval[1])})" if found.interval else ""
    many = "1 episode" if len(found.scores) == 1 else f"{len(found.scores)} episodes"
    return f"{number(found.mean)}{between}, {many}, {found.acting}"

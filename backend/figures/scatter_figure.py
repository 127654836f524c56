"""Figure with one point for each run: the values of two expressions, such as a setting and a result."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.colors import color_of
from backend.comparisons.labels import run_labels
from backend.database.tables import Run
from backend.figures.drawing import MAX_DRAWABLE, Look, as_text, format_number, significant, to_figure, y_axis
from backend.figures.schemas import Figure
from backend.runs.expressions.names import Column
from backend.runs.expressions.nodes import MetricStatistic, Setting, Value
from backend.runs.expressions.requests import read_number
from backend.runs.expressions.sql import Translator
from backend.runs.names import field_titles
from workers.contract.metrics import named


@dataclass(frozen=True)
class RunPoint:
    """The values of a run. One that is missing is NaN."""

    run_id: int
    name: str
    x: float
    y: float


def draw_scatter(session: Session, runs: Sequence[Run], x: str, y: str, look: Look) -> Figure:
    """Return the figure of two expressions. Raise InvalidExpression if one is wrong."""
    values = [read_number(session, text, field) for text, field in ((x, "x"), (y, "y"))]
    translator = Translator(session)
    columns = [translator.number(value) for value in values]
    rows = session.execute(select(Run.id, *columns).where(Run.id.in_([run.id for run in runs])))
    found = {run_id: [np.nan if each is None else float(each) for each in pair] for run_id, *pair in rows}
    names = run_labels(runs)
    points = [RunPoint(run.id, names[run.id], *found[run.id]) for run in runs if run.id in found]
    return scatter_figure(points, _title(values[0], x), _title(values[1], y), look)


def scatter_figure(points: Sequence[RunPoint], x_title: str, y_title: str, look: Look) -> Figure:
    """Return the figure. The title of the x axis counts the runs that are left out."""
    drawn = [
        point for point in points if _is_drawable(point.x, log=look.x_log) and _is_drawable(point.y, log=look.y_log)
    ]
    left_out = len(points) - len(drawn)
    reason = "value" if not (look.x_log or look.y_log) else "value above 0"
    note = f" ({left_out} {'run' if left_out == 1 else 'runs'} without a {reason} left out)" if left_out else ""
    x, y = np.array([point.x for point in drawn]), np.array([point.y for point in drawn])
    layout = go.Layout(
        xaxis={"title": {"text": as_text(x_title) + note}, **y_axis([x], look.x_log)},
        yaxis={"title": {"text": as_text(y_title)}, **y_axis([y], look.y_log, clip=look.clip)},
        hovermode="closest",
        showlegend=False,
    )
    if not drawn:
        return Figure(data=[], layout=layout.to_plotly_json())
    trace = go.Scatter(
        x=significant(x),
        y=y,
        mode="markers",
        marker={"color": [color_of(point.run_id) for point in drawn], "size": 9},
        text=[f"{as_text(point.name)}: {format_number(point.y)} at {format_number(point.x)}" for point in drawn],
        hovertemplate="%{text}<extra></extra>",
        uid="runs",
        meta={"runs": [point.run_id for point in drawn]},
    )
    return to_figure([trace], layout)


def _is_drawable(value: float, *, log: bool) -> bool:
    return bool(np.isfinite(value)) and abs(value) < MAX_DRAWABLE and (value > 0 or not log)


def _title(value: Value, text: str) -> str:
    """Return the title of a single name, or else the expression."""
    if isinstance(value, Column):
        return value.title
    if isinstance(value, Setting):
        return field_titles().get(value.name, value.name)
    if isinstance(value, MetricStatistic):
        return f"{named(value.name).heading} ({value.statistic})"
    return text.strip()

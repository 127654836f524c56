"""Diagrams of methods with the numbers of a run."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.metrics.points import MetricSeries
from arcadia_backend.papers import schemas
from arcadia_backend.papers.definition import Box, MethodDiagram, Reading
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.metrics import named

# The newest runs that the user can choose from.
MAX_CHOICES = 50


def fill_diagram(session: Session, diagram: MethodDiagram, run_id: int | None) -> schemas.Diagram:
    """Return the diagram with the numbers of this run. By default, use the newest started run."""
    choices = _choices(session, diagram)
    run = _find_run_of_method(session, diagram, run_id) if run_id is not None else next(iter(choices), None)
    if run is not None and run not in choices:
        choices.append(run)
    series = _read_series(session, run)
    return schemas.Diagram(
        name=diagram.name,
        title=diagram.title,
        preset=diagram.preset,
        run=None if run is None else _run(run),
        runs=[_run(choice) for choice in choices],
        boxes=[_box(box, run, series) for box in diagram.boxes],
        arrows=[schemas.DiagramArrow(**vars(arrow)) for arrow in diagram.arrows],
        groups=[
            schemas.DiagramGroup(title=group.title, boxes=list(group.boxes))
            for group in diagram.groups
            if run is not None and all(run.config.get(field) == value for field, value in group.only.items())
        ],
    )


def _choices(session: Session, diagram: MethodDiagram) -> list[Run]:
    newest = (
        select(Run)
        .where(
            Run.origin == "trained",
            Run.algorithm.in_(diagram.methods),
            Run.started_at.is_not(None),
            Run.archived_at.is_(None),
        )
        .order_by(Run.id.desc())
        .limit(MAX_CHOICES)
    )
    return list(session.scalars(newest))


def _find_run_of_method(session: Session, diagram: MethodDiagram, run_id: int) -> Run:
    run = find_run(session, run_id)
    if run.algorithm not in diagram.methods:
        message = f"run {run_id} uses {run.algorithm}, but the diagram shows {' or '.join(diagram.methods)}"
        raise Invalid(FieldError(field="run", message=message))
    return run


def _read_series(session: Session, run: Run | None) -> dict[str, MetricSeries]:
    if run is None:
        return {}
    return {
        series.name: series for series in session.scalars(select(MetricSeries).where(MetricSeries.run_id == run.id))
    }


def _run(run: Run) -> schemas.DiagramRun:
    return schemas.DiagramRun(id=run.id, name=run.name, state=run.state)


def _box(box: Box, run: Run | None, series: Mapping[str, MetricSeries]) -> schemas.DiagramBox:
    return schemas.DiagramBox(
        name=box.name,
        title=box.title,
        kind=box.kind,
        does=box.does,
        column=box.column,
        row=box.row,
        rows=box.rows,
        many=box.many,
        learned=box.learned,
        readings=[_reading(reading, run, series) for reading in box.readings],
    )


def _reading(reading: Reading, run: Run | None, series: Mapping[str, MetricSeries]) -> schemas.DiagramReading:
    metric_series = series.get(reading.metric or "")
    value: float | str | None
    if metric_series is not None:
        value = metric_series.last if reading.counts else metric_series.recent_mean
        unit = reading.unit or named(metric_series.name).unit
    else:
        value = None if run is None else _configured(run.config, reading.fields)
        unit = reading.unit or (named(reading.metric).unit if reading.metric else "")
    if isinstance(value, float) and not math.isfinite(value):
        value = None
    return schemas.DiagramReading(label=reading.label, value=value, unit=unit, measured=metric_series is not None)


def _configured(config: Mapping[str, Any], fields: Sequence[str]) -> float | str | None:
    values = [config.get(field) for field in fields]
    if not values or None in values:
        return None
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return float(math.prod(float(value) for value in values if value is not None))

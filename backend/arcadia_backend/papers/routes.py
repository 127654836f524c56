"""Routes of papers, their tables and figures, and the studies started from them."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.metrics.points import MetricSeries
from arcadia_backend.papers import schemas, service, view
from arcadia_backend.papers.definition import Box, MethodDiagram, Reading
from arcadia_backend.papers.service import every_paper, find_item, find_paper, find_part
from arcadia_backend.papers.view import configs_of, preview
from arcadia_backend.studies import planning, scheduler
from arcadia_backend.studies.service import queue_next_runs
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.metrics import named
from arcadia_workers.contract.values import Id

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


router = APIRouter(tags=["papers"])

PaperName = Annotated[str, Path(max_length=60, description="Name of the paper, such as a3c.")]
ItemName = Annotated[str, Path(max_length=60, description="Name of the table or figure, such as figure-2.")]


@router.get("/papers")
def list_papers(db: Db) -> list[schemas.PaperSummary]:
    """List the papers with their tables and figures, oldest first."""
    with db.read() as session:
        counted = service.count_studies(session)
    return [view.paper_summary(paper, counted) for paper in every_paper()]


@router.get("/papers/{paper}")
def read_paper(db: Db, paper: PaperName) -> schemas.PaperSummary:
    """Return a paper with its tables and figures."""
    found_paper = find_paper(paper)
    with db.read() as session:
        return view.paper_summary(found_paper, service.count_studies(session))


@router.get("/papers/{paper}/{item}")
def read_item(db: Db, paper: PaperName, item: ItemName) -> schemas.PaperItem:
    """Return a table or figure: the paper's experiment, ours, the differences, and the started studies."""
    found_paper = find_paper(paper)
    with db.read() as session:
        return view.paper_item(session, found_paper, find_item(found_paper, item))


@router.get("/papers/{paper}/{item}/figure")
def draw_item(
    db: Db,
    paper: PaperName,
    item: ItemName,
    share: Annotated[
        schemas.Share | None,
        Query(description="Share of the budget of our studies. By default, none are drawn."),
    ] = None,
    part: Annotated[str | None, Query(max_length=60, description="Part to draw. By default, all.")] = None,
) -> Figure:
    """Return our results over the paper's numbers.

    The figure has the newest study of each part at one share of the budget, or the best scores of all runs.
    """
    found_paper = find_paper(paper)
    found_item = find_item(found_paper, item)
    if part is not None and find_part(found_item, part) is None:
        raise NotFound(
            f"{found_item.label} has no part {part!r}. It has {', '.join(each.name for each in found_item.parts)}."
        )
    if found_item.draw is None:
        why = "it is a diagram" if found_item.diagrams else "its numbers are measured in another way than ours"
        raise NotFound(f"{found_item.label} has no figure: {why}.")
    with db.read() as session:
        started = service.find_started(session, found_paper, found_item)
        return found_item.draw(session, service.newest(started, share, part) if share else [])


@router.get("/papers/{paper}/{item}/diagrams/{diagram}")
def read_diagram(
    db: Db,
    paper: PaperName,
    item: ItemName,
    diagram: Annotated[str, Path(max_length=60, description="Name of the diagram, such as ga3c.")],
    run: Annotated[Id | None, Query(description="Run whose numbers to show. By default, the newest run.")] = None,
) -> schemas.Diagram:
    """Return the architecture of a method with the numbers of a run, such as queue lengths and batch sizes."""
    found_item = find_item(find_paper(paper), item)
    known = {each.name: each for each in found_item.diagrams}
    if diagram not in known:
        has = f"It has {', '.join(known)}." if known else "It has none."
        raise NotFound(f"{found_item.label} has no diagram {diagram!r}. {has}")
    with db.read() as session:
        return fill_diagram(session, known[diagram], run)


@router.post("/papers/{paper}/{item}/preview")
def preview_item(
    db: Db, settings: CurrentSettings, paper: PaperName, item: ItemName, wanted: schemas.PreviewPart
) -> schemas.PaperPreview:
    """Return the runs, steps and time that these parts would take. Nothing is stored."""
    parts = service.choose_parts(find_item(find_paper(paper), item), wanted.parts)
    with db.read() as session:
        return preview(session, parts, wanted.share, settings.max_study_runs)


@router.post("/papers/{paper}/{item}/studies", status_code=201)
def start_item(
    db: Db,
    bell: Bell,
    settings: CurrentSettings,
    once: Idempotent,
    paper: PaperName,
    item: ItemName,
    wanted: schemas.StartPart,
) -> list[schemas.PaperStudy]:
    """Start a study for each named part at this share of its budget.

    If the preview requires confirmation, send its total steps as `confirm_steps`.
    """
    found_paper = find_paper(paper)
    found_item = find_item(found_paper, item)
    parts = service.choose_named_parts(found_item, wanted.parts)
    with db.read() as session:
        cost = preview(session, parts, wanted.share, settings.max_study_runs)
        service.require_confirmation(cost, wanted.confirm_steps)
        draws = [
            planning.validate_and_price(session, part.at(wanted.share), settings.max_study_runs)[0] for part in parts
        ]
    with once.write(db) as session:
        for part, drawn in zip(parts, draws, strict=True):
            study = service.start(session, found_paper, found_item, part, wanted.share, drawn, wanted.project)
            for run in queue_next_runs(session, study):
                bell.ring_after_commit(session, run)
            session.flush()
        started = service.find_started(session, found_paper, found_item)[: len(parts)]
        return once.store(session, view.started(session, started))


@router.post("/papers/{paper}/{item}/measurements", status_code=201)
def measure_item(
    db: Db, bell: Bell, once: Idempotent, paper: PaperName, item: ItemName, wanted: schemas.MeasureParts
) -> list[schemas.Measurement]:
    """Queue a short run for each method of these parts whose speed is unknown here.

    Each run trains for half a minute, then stops and is archived. Cost estimates use its speed.
    """
    parts = service.choose_parts(find_item(find_paper(paper), item), wanted.parts)
    with once.write(db) as session:
        measurements = scheduler.queue_measurements(session, [config for part in parts for config in configs_of(part)])
        for run in measurements:
            bell.ring_after_commit(session, run)
        queued = [
            schemas.Measurement(run_id=run.id, kind=run.name.removeprefix(scheduler.NAME_PREFIX))
            for run in measurements
        ]
        return once.store(session, queued)

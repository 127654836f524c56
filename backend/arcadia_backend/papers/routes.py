"""Routes of papers, their tables and figures, and the studies started from them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.doorbell import Bell
from arcadia_backend.errors import NotFound
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import schemas, service, view
from arcadia_backend.papers.diagrams import fill_diagram
from arcadia_backend.papers.service import every_paper, find_item, find_paper, find_part
from arcadia_backend.papers.view import configs_of, preview
from arcadia_backend.studies import planning, scheduler
from arcadia_backend.studies.service import queue_next_runs
from arcadia_backend.web.idempotency import Idempotent
from arcadia_workers.contract.values import Id

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

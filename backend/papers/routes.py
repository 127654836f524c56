"""/papers: the papers, their tables and figures, and studies that are started from these."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.doorbell import Bell
from backend.errors import NotFound
from backend.figures.schemas import Figure
from backend.papers import schemas, service, view
from backend.papers.catalogue import every_paper, find_item, find_paper, find_part
from backend.papers.cost import configs_of, together
from backend.papers.diagram_view import drawn
from backend.studies import measurements, planning, run_queue
from workers.contract.values import Id

router = APIRouter(tags=["papers"])

PaperName = Annotated[str, Path(max_length=60, description="As a3c.")]
ItemName = Annotated[str, Path(max_length=60, description="As figure-2.")]


@router.get("/papers")
def list_papers(db: Db) -> list[schemas.PaperSummary]:
    """The papers with their tables and figures, the oldest first."""
    with db.read() as session:
        counted = service.counts(session)
    return [view.paper_summary(paper, counted) for paper in every_paper()]


@router.get("/papers/{paper}")
def read_paper(db: Db, paper: PaperName) -> schemas.PaperSummary:
    """A paper with its tables and figures."""
    found = find_paper(paper)
    with db.read() as session:
        return view.paper_summary(found, service.counts(session))


@router.get("/papers/{paper}/{item}")
def read_item(db: Db, paper: PaperName, item: ItemName) -> schemas.PaperItem:
    """A table or figure: what the paper did, what ours does, in what they differ, and what was started from it."""
    of = find_paper(paper)
    with db.read() as session:
        return view.shown(session, of, find_item(of, item))


@router.get("/papers/{paper}/{item}/figure")
def draw_item(
    db: Db,
    paper: PaperName,
    item: ItemName,
    share: Annotated[schemas.Share | None, Query(description="Of which studies; without it none.")] = None,
    part: Annotated[str | None, Query(max_length=60, description="Of which part; of all without it.")] = None,
) -> Figure:
    """Ours over theirs: the newest study of each part at one share of the budget, or the best scores of any run."""
    of = find_paper(paper)
    found = find_item(of, item)
    if part is not None and find_part(found, part) is None:
        raise NotFound(f"{found.label} has no part {part!r}. It has {', '.join(each.name for each in found.parts)}.")
    if found.draw is None:
        why = "it is a diagram" if found.diagrams else "what it prints is not measured as ours is"
        raise NotFound(f"{found.label} has no figure: {why}.")
    with db.read() as session:
        started = service.started_from(session, of, found)
        return found.draw(session, service.newest(started, share, part) if share else [])


@router.get("/papers/{paper}/{item}/diagrams/{diagram}")
def read_diagram(
    db: Db,
    paper: PaperName,
    item: ItemName,
    diagram: Annotated[str, Path(max_length=60, description="As ga3c.")],
    run: Annotated[Id | None, Query(description="Whose numbers; without it those of the newest run.")] = None,
) -> schemas.Diagram:
    """Return the architecture of a method with the numbers of a run: queues, batches, and counts of each role."""
    found = find_item(find_paper(paper), item)
    there = {each.name: each for each in found.diagrams}
    if diagram not in there:
        has = f"It has {', '.join(there)}." if there else "It has none."
        raise NotFound(f"{found.label} has no diagram {diagram!r}. {has}")
    with db.read() as session:
        return drawn(session, there[diagram], run)


@router.post("/papers/{paper}/{item}/preview")
def preview_item(
    db: Db, settings: CurrentSettings, paper: PaperName, item: ItemName, wanted: schemas.PreviewPart
) -> schemas.PaperPreview:
    """How many runs, steps and hours it would be; nothing is stored."""
    parts = service.chosen(find_item(find_paper(paper), item), wanted.parts)
    with db.read() as session:
        return together(session, parts, wanted.share, settings.max_study_runs)


@router.post("/papers/{paper}/{item}/studies", status_code=201)
def start_item(
    db: Db, bell: Bell, settings: CurrentSettings, paper: PaperName, item: ItemName, wanted: schemas.StartPart
) -> list[schemas.PaperStudy]:
    """Start a study for each named part at this share of its budget.

    Where the preview says so, the total of its steps has to be sent as `confirm_steps`.
    """
    of = find_paper(paper)
    found = find_item(of, item)
    parts = service.chosen_by_name(found, wanted.parts)
    with db.read() as session:
        preview = together(session, parts, wanted.share, settings.max_study_runs)
        service.require_confirmation(preview, wanted.confirm_steps)
        draws = [
            planning.validate_and_price(session, part.at(wanted.share), settings.max_study_runs)[0] for part in parts
        ]
    with db.write() as session:
        for part, drawn in zip(parts, draws, strict=True):
            study = service.start(session, of, found, part, wanted.share, drawn)
            for run in run_queue.queue_next_runs(session, study):
                bell.ring_after_commit(session, run)
            session.flush()
        return view.started(session, service.started_from(session, of, found)[: len(parts)])


@router.post("/papers/{paper}/{item}/measurements", status_code=201)
def measure_item(
    db: Db, bell: Bell, paper: PaperName, item: ItemName, wanted: schemas.MeasureParts
) -> list[schemas.Measurement]:
    """Queue a short run for each method of these parts whose speed is not known here.

    Each trains for half a minute, stops and is archived. Estimates use its rate from then on.
    """
    parts = service.chosen(find_item(find_paper(paper), item), wanted.parts)
    with db.write() as session:
        found = measurements.queue_measurements(session, [config for part in parts for config in configs_of(part)])
        for run in found:
            bell.ring_after_commit(session, run)
        return [
            schemas.Measurement(run_id=run.id, kind=run.name.removeprefix(measurements.NAME_PREFIX)) for run in found
        ]

"""/reports: list, begin, read, change, share, export and remove; what a block shows."""

from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from backend.database.engine import Database, Db
from backend.reports import schemas, service
from backend.reports.blocks import FinishedBlock, finished
from backend.reports.contents import content_of
from backend.reports.exporting import to_page
from backend.web.lookup import PathId

router = APIRouter(tags=["reports"])


def figures_of(request: Request) -> FastAPI:
    """What draws the figures of charts."""
    found: FastAPI = request.app.state.drawer
    return found


Figures = Annotated[FastAPI, Depends(figures_of)]


@router.get("/reports")
def list_reports(db: Db) -> list[schemas.ReportSummary]:
    """All reports, the one changed last first."""
    with db.read() as session:
        return service.listed(session)


@router.post("/reports", status_code=201)
def create_report(db: Db, asked: schemas.CreateReport) -> schemas.Report:
    """Begin a report."""
    with db.write() as session:
        return schemas.Report.model_validate(service.create(session, asked))


@router.post("/reports/preview")
async def preview_block(db: Db, figures: Figures, asked: schemas.PreviewBlock) -> schemas.BlockContent:
    """What a block would show; nothing is stored."""
    return await content_of(db, figures, asked.block)


@router.get("/reports/{report_id}")
def read_report(db: Db, report_id: PathId) -> schemas.Report:
    """A report."""
    with db.read() as session:
        return schemas.Report.model_validate(service.find_report(session, report_id))


@router.get("/reports/{report_id}/export", response_class=HTMLResponse)
async def export_report(db: Db, figures: Figures, report_id: PathId) -> HTMLResponse:
    """The report as it is now, as one HTML file that needs neither server nor network."""
    blocks = finished((await run_in_threadpool(read_report, db, report_id)).blocks)
    # One after another: a report of a hundred charts leaves threads to others.
    contents = [await content_of(db, figures, block) for block in blocks]
    page = await run_in_threadpool(_page, db, report_id, list(zip(blocks, contents, strict=True)))
    headers = {"Content-Disposition": f'attachment; filename="report-{report_id}.html"'}
    return HTMLResponse(page, headers=headers)


@router.patch("/reports/{report_id}")
def edit_report(db: Db, report_id: PathId, changes: schemas.EditReport) -> schemas.Report:
    """Change title or blocks; refused with 409 where somebody changed it since it was read."""
    with db.write() as session:
        report = service.find_report(session, report_id, lock=True)
        service.edit(session, report, changes)
        return schemas.Report.model_validate(report)


@router.delete("/reports/{report_id}", status_code=204)
def delete_report(db: Db, report_id: PathId) -> Response:
    """Remove a report and its link; what it shows stays."""
    with db.write() as session:
        session.delete(service.find_report(session, report_id, lock=True))
    return Response(status_code=204)


@router.post("/reports/{report_id}/share")
def share_report(db: Db, report_id: PathId) -> schemas.Report:
    """Make the read-only link, for people who cannot sign in too; one that is there stays the same."""
    with db.write() as session:
        report = service.find_report(session, report_id, lock=True)
        service.share(report)
        return schemas.Report.model_validate(report)


@router.delete("/reports/{report_id}/share")
def revoke_link(db: Db, report_id: PathId) -> schemas.Report:
    """Have the read-only link open nothing any more."""
    with db.write() as session:
        report = service.find_report(session, report_id, lock=True)
        report.share_token = None
        return schemas.Report.model_validate(report)


def _page(db: Database, report_id: int, shown: list[tuple[FinishedBlock, schemas.BlockContent]]) -> str:
    with db.read() as session:
        return to_page(session, service.find_report(session, report_id), shown)

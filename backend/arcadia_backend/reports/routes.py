"""/reports: list, create, read, edit, share, export and delete reports, and preview blocks."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse

from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.errors import NotFound
from arcadia_backend.files.routes import download
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.reports import schemas, service
from arcadia_backend.reports.block_content import read_content
from arcadia_backend.reports.html_export import render_page
from arcadia_backend.reports.schemas import AnyBlock, finished_blocks, read_blocks
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId

router = APIRouter(tags=["reports"])


@router.get("/reports")
def list_reports(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> list[schemas.ReportSummary]:
    """Return all reports, or those of some projects, most recently changed first."""
    with db.read() as session:
        return service.list_reports(session, project)


@router.post("/reports", status_code=201)
def create_report(db: Db, once: Idempotent, new: schemas.CreateReport) -> schemas.Report:
    """Create a report."""
    with once.write(db) as session:
        return once.store(session, schemas.Report.model_validate(service.create(session, new)))


@router.post("/reports/preview")
def preview_block(db: Db, preview: schemas.PreviewBlock) -> schemas.BlockContent:
    """Return the content of a block without storing it."""
    return read_content(db, preview.block)


@router.get("/reports/{report_id}")
def read_report(db: Db, report_id: PathId) -> schemas.Report:
    """Return a report."""
    with db.read() as session:
        return schemas.Report.model_validate(service.find_report(session, report_id))


@router.get("/reports/{report_id}/export", response_class=HTMLResponse)
def export_report(db: Db, report_id: PathId) -> HTMLResponse:
    """Return the current report as one HTML file that needs no server and no network."""
    with db.read() as session:
        blocks = finished_blocks(read_blocks(service.find_report(session, report_id).blocks))
    contents = [(block, read_content(db, block)) for block in blocks]
    with db.read() as session:
        page = render_page(session, service.find_report(session, report_id), contents)
    headers = {"Content-Disposition": f'attachment; filename="report-{report_id}.html"'}
    return HTMLResponse(page, headers=headers)


@router.patch("/reports/{report_id}")
def edit_report(db: Db, report_id: PathId, changes: schemas.EditReport) -> schemas.Report:
    """Change the title, the blocks or the project. Fail with 409 if the report has changed since the client read it."""
    with db.write() as session:
        report = service.find_report(session, report_id, lock=True)
        service.edit(session, report, changes)
        return schemas.Report.model_validate(report)


@router.delete("/reports/{report_id}", status_code=204)
def delete_report(db: Db, report_id: PathId) -> Response:
    """Delete a report and its link. Runs and replays in it are kept."""
    with db.write() as session:
        session.delete(service.find_report(session, report_id, lock=True))
    return Response(status_code=204)


@router.post("/reports/{report_id}/share")
def share_report(db: Db, report_id: PathId) -> schemas.Report:
    """Create the read-only link, which works without signing in. An existing link stays the same."""
    with db.write() as session:
        report = service.find_report(session, report_id, lock=True)
        service.share(report)
        return schemas.Report.model_validate(report)


@router.delete("/reports/{report_id}/share")
def revoke_link(db: Db, report_id: PathId) -> schemas.Report:
    """Revoke the read-only link."""
    with db.write() as session:
        report = service.find_report(session, report_id, lock=True)
        report.share_token = None
        return schemas.Report.model_validate(report)


shared_router = APIRouter(tags=["reports"])

Token = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Token of the link.")]
Position = Annotated[int, Path(ge=0, le=1_000, description="Index of the block, starting at 0.")]


@shared_router.get("/shared/{token}")
def read_shared(db: Db, token: Token) -> schemas.SharedReport:
    """Return a report as readers of its link see it."""
    with db.read() as session:
        report = schemas.SharedReport.model_validate(service.find_shared(session, token))
    return report.model_copy(update={"blocks": finished_blocks(report.blocks)})


@shared_router.get("/shared/{token}/blocks/{position}")
def read_shared_block(db: Db, token: Token, position: Position) -> schemas.BlockContent:
    """Return the current content of a block of a shared report."""
    return read_content(db, _find_block(db, token, position))


@shared_router.get("/shared/{token}/files/{file_id}", response_class=Response)
def read_shared_file(request: Request, db: Db, settings: CurrentSettings, token: Token, file_id: PathId) -> Response:
    """Return a video or an image of a shared report. Range requests are supported."""
    with db.read() as session:
        file = service.find_report_file(session, service.find_shared(session, token), file_id)
    return download(request, file, settings.files_dir)


def _find_block(db: Database, token: str, position: int) -> AnyBlock:
    with db.read() as session:
        blocks = finished_blocks(read_blocks(service.find_shared(session, token).blocks))
    if position >= len(blocks):
        raise NotFound(f"The report has no block {position}. It has {len(blocks)} blocks, starting at 0.")
    return blocks[position]

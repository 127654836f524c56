"""/shared: a report for those who have its link, and nothing else; nobody signs in here."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from backend.config import CurrentSettings
from backend.database.engine import Database, Db
from backend.errors import NotFound
from backend.files.download import download
from backend.reports import schemas, service
from backend.reports.blocks import AnyBlock, finished, read_blocks
from backend.reports.contents import content_of
from backend.reports.routes import Figures
from backend.web.lookup import PathId

router = APIRouter(tags=["reports"])

Token = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Of the link.")]
Position = Annotated[int, Path(ge=0, le=1_000, description="The block's place, counted from 0.")]


@router.get("/shared/{token}")
def read_shared(db: Db, token: Token) -> schemas.SharedReport:
    """A report as its read-only link shows it."""
    with db.read() as session:
        report = schemas.SharedReport.model_validate(service.find_shared(session, token))
    return report.model_copy(update={"blocks": finished(report.blocks)})


@router.get("/shared/{token}/blocks/{position}")
async def read_shared_block(db: Db, figures: Figures, token: Token, position: Position) -> schemas.BlockContent:
    """What a block of a shared report shows now."""
    return await content_of(db, figures, await run_in_threadpool(_block_at, db, token, position))


@router.get("/shared/{token}/files/{file_id}", response_class=Response)
def read_shared_file(request: Request, db: Db, settings: CurrentSettings, token: Token, file_id: PathId) -> Response:
    """A replay of a shared report, or its picture; byte ranges are served."""
    with db.read() as session:
        file = service.shown_file(session, service.find_shared(session, token), file_id)
    return download(request, file, settings.files_dir)


def _block_at(db: Database, token: str, position: int) -> AnyBlock:
    with db.read() as session:
        blocks = finished(read_blocks(service.find_shared(session, token).blocks))
    if position >= len(blocks):
        raise NotFound(f"The report has no block {position}; it has {len(blocks)}, counted from 0.")
    return blocks[position]

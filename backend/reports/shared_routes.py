"""/shared: read-only access to one report by its link, without signing in."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from backend.config import CurrentSettings
from backend.database.engine import Database, Db
from backend.errors import NotFound
from backend.files.download import download
from backend.reports import schemas, service
from backend.reports.block_content import read_content
from backend.reports.blocks import AnyBlock, finished_blocks, read_blocks
from backend.web.lookup import PathId

router = APIRouter(tags=["reports"])

Token = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$", description="Token of the link.")]
Position = Annotated[int, Path(ge=0, le=1_000, description="Index of the block, starting at 0.")]


@router.get("/shared/{token}")
def read_shared(db: Db, token: Token) -> schemas.SharedReport:
    """Return a report as readers of its link see it."""
    with db.read() as session:
        report = schemas.SharedReport.model_validate(service.find_shared(session, token))
    return report.model_copy(update={"blocks": finished_blocks(report.blocks)})


@router.get("/shared/{token}/blocks/{position}")
def read_shared_block(db: Db, token: Token, position: Position) -> schemas.BlockContent:
    """Return the current content of a block of a shared report."""
    return read_content(db, _find_block(db, token, position))


@router.get("/shared/{token}/files/{file_id}", response_class=Response)
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

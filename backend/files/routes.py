"""Route of stored files."""

from fastapi import APIRouter, Request, Response

from backend.config import CurrentSettings
from backend.database.engine import Db
from backend.files import service
from backend.files.download import download
from backend.web.lookup import PathId

router = APIRouter(tags=["files"])


@router.head("/files/{file_id}", response_class=Response, include_in_schema=False)
@router.get("/files/{file_id}", response_class=Response)
def read_file(request: Request, db: Db, settings: CurrentSettings, file_id: PathId) -> Response:
    """Download a file, such as a video, a thumbnail or a checkpoint. Byte ranges are supported."""
    with db.read() as session:
        file = service.find_file(session, file_id)
    return download(request, file, settings.files_dir)

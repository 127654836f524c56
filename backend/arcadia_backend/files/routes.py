"""Responses with stored files, in ranges, and their route."""

import re
from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import File, StoredKind
from arcadia_backend.errors import NotFound, Problem
from arcadia_backend.files import service
from arcadia_backend.files.storage import stored_path
from arcadia_backend.web.lookup import PathId

TYPES: dict[StoredKind, str] = {
    "checkpoint": "application/octet-stream",
    "video": "video/mp4",
    "poster": "image/png",
    "track": "application/octet-stream",
    "saliency": "application/octet-stream",
    "artifact": "application/octet-stream",
}
# Media of reported runs, by the suffix that the server gave them. No browser runs scripts in these.
MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}
INLINE_KINDS = ("video", "poster", "media")
ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class BeyondEnd(Problem):
    """The requested range starts after the end of the file."""

    status = 416
    kind = "beyond-end"
    title = "Range beyond the end"

    def __init__(self, extent: str) -> None:
        super().__init__(f"The file has only {extent.rpartition('/')[2]} bytes.")
        self.headers = {"Content-Range": extent}


class StoredFile(FileResponse):
    """A file response that supports one byte range. Only attacks request many ranges."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file. Ignore a Range header that is not one simple range, as RFC 9110 allows."""
        if not _is_one_range(Headers(scope=scope).get("range", "")):
            scope = {**scope, "headers": [header for header in scope["headers"] if header[0] != b"range"]}

        async def send_or_refuse(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == BeyondEnd.status:
                raise BeyondEnd(Headers(raw=message["headers"])["content-range"])
            await send(message)

        await super().__call__(scope, receive, send_or_refuse)


def _is_one_range(written: str) -> bool:
    parts = ONE_RANGE.fullmatch(written)
    if parts is None or not (parts[1] or parts[2]):
        return False
    return not (parts[1] and parts[2]) or int(parts[1]) <= int(parts[2])


def download(request: Request, file: File, root: Path, name: str | None = None) -> Response:
    """Return the file, or 304 if the client has it. The content of a file id never changes.

    Files of artifacts have any type and a name of their own. They are sent as attachments, so browsers run none.
    """
    headers = {
        "ETag": f'"{file.sha256}"',
        "Cache-Control": "private, max-age=31536000, immutable",
        "X-Content-Type-Options": "nosniff",
    }
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    path = stored_path(root, file.stored_path)
    if not path.is_file():
        raise NotFound(f"The content of file {file.id} is missing on the server's disk.")
    return StoredFile(
        path,
        headers=headers,
        media_type=_media_type(file, name),
        filename=name or f"{_maker_of(file)}-{PurePosixPath(file.path).name}",
        content_disposition_type="inline" if file.kind in INLINE_KINDS else "attachment",
    )


def _media_type(file: File, name: str | None) -> str:
    if file.kind == "media":
        return MEDIA_TYPES[PurePosixPath(file.path).suffix]
    if file.kind == "artifact" and name is not None:
        suffix = PurePosixPath(name.lower()).suffix.replace(".jpeg", ".jpg")
        return MEDIA_TYPES.get(suffix, "application/octet-stream")
    return TYPES[file.kind]


def _maker_of(file: File) -> str:
    if file.kind == "artifact":
        return "artifact"
    return f"job-{file.job_id}" if file.run_id is None else f"run-{file.run_id}"


router = APIRouter(tags=["files"])


@router.head("/files/{file_id}", response_class=Response, include_in_schema=False)
@router.get("/files/{file_id}", response_class=Response)
def read_file(request: Request, db: Db, settings: CurrentSettings, file_id: PathId) -> Response:
    """Download a file, such as a video, a thumbnail or a checkpoint. Byte ranges are supported."""
    with db.read() as session:
        file = service.find_file(session, file_id)
    return download(request, file, settings.files_dir)

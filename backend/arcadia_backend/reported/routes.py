"""Routes of reported runs, and of the media of runs."""

import zlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session

from arcadia_backend.artifacts import service as artifacts
from arcadia_backend.artifacts.schemas import KnownFiles, MissingFiles
from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Attempt, File, MediaKind, Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.files.service import BODY, Maker, Upload, receive_upload
from arcadia_backend.files.storage import TooLarge
from arcadia_backend.reported import contents, service
from arcadia_backend.reported.ingest import ingest
from arcadia_backend.reported.schemas import (
    Key,
    LoggedEvents,
    MediaPage,
    MediaSeries,
    ReportedRun,
    ReportRun,
    ScriptAnswer,
)
from arcadia_backend.reported.service import media_suffix
from arcadia_backend.web.lookup import PathId, PathRun
from arcadia_workers.contract.events import Sha256
from arcadia_workers.contract.values import Text
from arcadia_workers.contract.worker_api import UploadedFile

_GZIP = 16 + zlib.MAX_WBITS


class GzipRoute(APIRoute):
    """A route whose request bodies may have the header `Content-Encoding: gzip`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route, which gets the decompressed body."""
        handle = super().get_route_handler()

        async def handle_decompressed(request: Request) -> Response:
            if request.headers.get("content-encoding", "").lower() == "gzip":
                settings: Settings = request.app.state.settings
                body = await run_in_threadpool(decompress, await request.body(), settings.max_body_bytes)
                request = _DecompressedRequest(request, body)
            return await handle(request)

        return handle_decompressed


class _DecompressedRequest(Request):
    """A request with another body."""

    def __init__(self, request: Request, body: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self._body = body


def decompress(body: bytes, limit: int) -> bytes:
    """Return a gzip body decompressed. Raise TooLarge beyond the limit, and Invalid if it is damaged."""
    stream = zlib.decompressobj(_GZIP)
    try:
        content = stream.decompress(body, limit + 1)
    except zlib.error:
        raise Invalid(FieldError(field="body", message="not gzip, although Content-Encoding says so")) from None
    if len(content) > limit:
        raise TooLarge(f"The decompressed body is larger than the {limit:,} bytes allowed. Send fewer events.")
    if not stream.eof:
        raise Invalid(FieldError(field="body", message="the gzip stream is cut off"))
    return content


router = APIRouter(tags=["reported runs"], route_class=GzipRoute)

Writer = Annotated[Key, Query(description="The writer whose event names the file.")]


@router.post(
    "/reported/runs", status_code=201, responses={200: {"description": "The run exists.", "model": ReportedRun}}
)
def report_run(db: Db, settings: CurrentSettings, response: Response, run: ReportRun) -> ReportedRun:
    """Create a run that a script logs, or let a script resume it.

    A repeated request with the same key and writer changes nothing. If its values differ from the first ones, the
    first ones are kept, and the others are in the run's log with a warning. Another writer continues the run with that
    key, which then runs again. Bodies may be compressed with gzip.
    """
    with db.write() as session:
        stored, attempt, is_new = service.report(session, settings, run)
    response.status_code = 201 if is_new else 200
    return ReportedRun(
        run_id=stored.id,
        attempt=attempt.attempt,
        path=f"/runs/{stored.id}",
        **_to_answer(stored, attempt).model_dump(),
    )


@router.post("/reported/runs/{run_id}/events")
def log_events(db: Db, settings: CurrentSettings, run_id: PathId, batch: LoggedEvents) -> ScriptAnswer:
    """Store events of a script. A repeated event changes nothing. A gap in the sequence is an error.

    An event is repeated if its number and its contents are stored. Other contents under a stored number are stored
    too, with a warning in the run's log, and counted in `conflicts`. Values that cannot be stored are left out with a
    warning. Bodies may be compressed with gzip.
    """
    with db.write() as session:
        return _to_answer(*ingest(session, settings, run_id, batch))


@router.put("/reported/runs/{run_id}/files/{sha256}", openapi_extra=BODY)
async def upload_media(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    run_id: PathId,
    sha256: Annotated[Sha256, Path(description="Hash of the body.")],
    writer: Writer,
) -> UploadedFile:
    """Upload an image or a video before the event that names it. A repeated upload changes nothing.

    PNG, JPEG, GIF, WebP, MP4 and WebM are accepted.
    """

    def find_maker(session: Session, lock: bool) -> Maker:
        _run, attempt = service.find_writer(session, run_id, writer, lock=lock)
        return Maker(run_id, attempt.attempt)

    def find_twin(session: Session, made_by: Maker) -> File | None:
        return contents.find_media_file(session, run_id, made_by.attempt, sha256)

    upload = Upload(find_maker, find_twin, "media", sha256)
    choose_path = lambda received: f"media/{sha256}{media_suffix(received)}"  # noqa: E731
    return UploadedFile(file_id=await receive_upload(request, db, settings, upload, choose_path))


@router.post("/reported/runs/{run_id}/artifact-files/missing")
def find_missing_files(db: Db, run_id: PathId, writer: Writer, files: KnownFiles) -> MissingFiles:
    """Return which files of an artifact the server does not have, so that only these are uploaded."""
    with db.write() as session:
        service.find_writer(session, run_id, writer)
        return MissingFiles(missing=artifacts.list_missing(session, files.sha256))


@router.put("/reported/runs/{run_id}/artifact-files/{sha256}", openapi_extra=BODY)
async def upload_artifact_file(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    run_id: PathId,
    sha256: Annotated[Sha256, Path(description="Hash of the body.")],
    writer: Writer,
) -> UploadedFile:
    """Upload a file of an artifact before the event that names it. A repeated upload changes nothing."""

    find_twin = artifacts.find_stored

    def find_maker(session: Session, lock: bool) -> Maker:
        nonlocal find_twin
        service.find_writer(session, run_id, writer, lock=lock)
        if lock:
            artifacts.lock_artifacts(session)
            # The whole content has arrived.
            find_twin = artifacts.find_received
        # It belongs to all artifacts that name it, not to the run.
        return Maker(None, 0)

    upload = Upload(find_maker, lambda session, _made_by: find_twin(session, run_id, sha256), "artifact", sha256)
    return UploadedFile(file_id=await receive_upload(request, db, settings, upload, lambda _received: sha256))


@router.get("/runs/{run_id}/media")
def list_media(
    db: Db,
    run: PathRun,
    name: Annotated[Text | None, Query(max_length=200, description="Only media of this name.")] = None,
    kind: Annotated[MediaKind | None, Query(description="Only media of this kind.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> MediaPage:
    """Return images, videos, histograms and tables that a run logged, in the order of their steps."""
    with db.read() as session:
        return contents.list_media(session, run.id, name, kind, cursor, limit)


@router.get("/runs/{run_id}/media/names")
def list_media_names(db: Db, run: PathRun) -> list[MediaSeries]:
    """List the names of the media that a run logged."""
    with db.read() as session:
        return contents.list_media_series(session, run.id)


def _to_answer(run: Run, attempt: Attempt) -> ScriptAnswer:
    return ScriptAnswer(acknowledged=attempt.last_seq, conflicts=attempt.conflicts, desired=run.desired)

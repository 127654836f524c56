"""Reception of uploaded files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.engine import Database
from backend.database.tables import File, StoredKind
from backend.files import service, storage
from backend.web.write_slots import write_slot

# Workers wait 30 seconds for a response. Use most of it before the uploaded file is discarded.
UPLOAD_WRITE_TIMEOUT_SECONDS = 20.0

_BINARY = {"schema": {"type": "string", "format": "binary"}}
BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}}

# Finds the attempt that makes a file, and locks its run or job if the second argument is True.
FindMaker = Callable[[Session, bool], service.Maker]


@dataclass(frozen=True)
class Upload:
    """A file to receive, and how to find the same file of an earlier upload."""

    find_maker: FindMaker
    find_twin: Callable[[Session, service.Maker], File | None]
    kind: StoredKind
    sha256: str


async def receive_upload(
    request: Request, db: Database, settings: Settings, upload: Upload, choose_path: Callable[[Path], str]
) -> int:
    """Store the body of a request as a file, and return its id. A repeated upload changes nothing."""
    uploaded_id = await run_in_threadpool(_find_twin, db, upload)
    if uploaded_id is not None:
        await storage.check_repeat(request.stream(), upload.sha256)
        return uploaded_id
    limit = settings.max_file_bytes
    received, size = await storage.receive(request.stream(), settings.files_dir, limit, upload.sha256)

    def keep() -> int:
        path = choose_path(received)
        with db.write() as session:
            made_by = upload.find_maker(session, True)
            twin = upload.find_twin(session, made_by)
            return (twin or service.store(session, received, made_by, upload.kind, path, upload.sha256, size)).id

    try:
        async with write_slot(request.app, UPLOAD_WRITE_TIMEOUT_SECONDS):
            return await run_in_threadpool(keep)
    finally:
        received.unlink(missing_ok=True)


def _find_twin(db: Database, upload: Upload) -> int | None:
    with db.read() as session:
        file = upload.find_twin(session, upload.find_maker(session, False))
        return file.id if file else None

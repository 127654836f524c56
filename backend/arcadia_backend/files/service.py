"""Stored files: uploads are received, and bytes are removed after the commit of the caller's transaction."""

import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import File, LogLine, StoredKind
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.files import storage
from arcadia_backend.live.notices import publish
from arcadia_backend.web.middleware import write_slot

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Maker:
    """The attempt at a run or job that made a file."""

    run_id: int | None
    attempt: int
    job_id: int | None = None


def find_file(session: Session, file_id: int) -> File:
    """Return a file. Raise NotFound if it does not exist."""
    file = session.get(File, file_id)
    if file is None:
        raise NotFound(f"There is no file {file_id}.")
    return file


def find_upload(session: Session, made_by: Maker, path: str, sha256: str) -> File | None:
    """Return the file of an earlier identical upload, or None."""
    return session.scalar(_of_attempt(made_by, path).where(File.sha256 == sha256))


def find_reported(session: Session, made_by: Maker, path: str) -> File:
    """Return the file that an event names. Raise Invalid if the worker did not upload it before the event."""
    file = session.scalar(_of_attempt(made_by, path))
    if file is None:
        message = f"{path[:255]} was not uploaded. Upload a file before its event"
        raise Invalid(FieldError(field="events", message=message))
    return file


def store(
    session: Session, received: Path, made_by: Maker, kind: StoredKind, path: str, sha256: str, size: int
) -> File:
    """Store a received file. Delete an earlier file of the same attempt and path, with a warning in the run's log."""
    if (replaced := session.scalar(_of_attempt(made_by, path))) is not None:
        if made_by.run_id is not None and replaced.sha256 != sha256:
            message = f"{path} of attempt {made_by.attempt} was uploaded again with other contents, which replace it."
            session.add(LogLine(run_id=made_by.run_id, attempt=made_by.attempt, level="warning", message=message))
        delete_files(session, [replaced.id])
    file = File(
        run_id=made_by.run_id,
        attempt=made_by.attempt,
        job_id=made_by.job_id,
        kind=kind,
        path=path,
        stored_path=new_stored_path(made_by.run_id, kind),
        sha256=sha256,
        bytes=size,
    )
    # A file of an artifact has no project until a version names it. Its script may write to a run.
    is_shared = made_by.run_id is None and made_by.job_id is None
    with backend_rights(session) if is_shared else nullcontext():
        session.add(file)
        session.flush()
    storage.move_into_place(received, files_root(session), file.stored_path)
    return file


def copy_file(session: Session, file: File, run_id: int) -> File:
    """Copy a file to another run as attempt 0. Each can be deleted without the other."""
    copy = File(
        run_id=run_id,
        attempt=0,
        kind=file.kind,
        path=file.path,
        stored_path=new_stored_path(run_id),
        sha256=file.sha256,
        bytes=file.bytes,
    )
    session.add(copy)
    session.flush()
    try:
        storage.duplicate(files_root(session), file.stored_path, copy.stored_path)
    except FileNotFoundError as error:
        raise NotFound(f"The content of file {file.id} is missing on the server's disk.") from error
    return copy


def announce_files(session: Session, run_id: int | None) -> None:
    """Notify open pages after the commit that a run's files are new, changed or deleted."""
    after_commit(session, lambda: publish("run.files", {"run_id": run_id}))


def delete_files(session: Session, ids: Sequence[int]) -> None:
    """Delete files. The caller has cleared all references to them."""
    root = files_root(session)
    for file in session.scalars(select(File).where(File.id.in_(ids))).all():
        session.delete(file)
        after_commit(session, lambda stored=file.stored_path: storage.remove(root, stored))  # type: ignore[misc]
    session.flush()


def delete_run_files(session: Session, run_id: int) -> None:
    """Delete all files of a run."""
    delete_files(session, session.scalars(select(File.id).where(File.run_id == run_id)).all())
    root = files_root(session)
    after_commit(session, lambda: storage.remove_folder(root, _folder(run_id)))


def files_root(session: Session) -> Path:
    """Return the files folder."""
    root: Path = session.info["files_dir"]
    return root


def sweep(database: Database) -> None:
    """Move files without a row into the trash, unless the folder belongs to another database."""
    if (warning := storage.check_owner(database, database.files_dir)) is not None:
        log.warning(warning)
        return
    with database.read() as session:
        storage.sweep(files_root(session), set(session.scalars(select(File.stored_path))))


def _of_attempt(made_by: Maker, path: str) -> Select[File]:
    return select(File).where(
        File.run_id == made_by.run_id,
        File.attempt == made_by.attempt,
        File.job_id == made_by.job_id,
        File.path == path,
    )


def _folder(run_id: int | None, kind: StoredKind | None = None) -> str:
    if run_id is None:
        return "artifacts" if kind == "artifact" else "played"
    return f"run-{run_id}"


def new_stored_path(run_id: int | None, kind: StoredKind | None = None) -> str:
    """Return a random path, which does not depend on the worker's name for the file."""
    return f"{_folder(run_id, kind)}/{secrets.token_hex(16)}"


# Workers wait 30 seconds for a response. Use most of it before the uploaded file is discarded.
UPLOAD_WRITE_TIMEOUT_SECONDS = 20.0

_BINARY = {"schema": {"type": "string", "format": "binary"}}
BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}}

# Finds the attempt that makes a file, and locks its run or job if the second argument is True.
FindMaker = Callable[[Session, bool], Maker]


@dataclass(frozen=True)
class Upload:
    """A file to receive, and how to find the same file of an earlier upload."""

    find_maker: FindMaker
    find_twin: Callable[[Session, Maker], File | None]
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
    try:
        return await keep(request, db, upload, received, lambda: choose_path(received), size)
    finally:
        received.unlink(missing_ok=True)


async def keep(
    request: Request, db: Database, upload: Upload, received: Path, choose_path: Callable[[], str], size: int
) -> int:
    """Store a received file, unless another request has stored it. Return its id."""

    def store_once() -> int:
        path = choose_path()
        with db.write() as session:
            made_by = upload.find_maker(session, True)
            twin = upload.find_twin(session, made_by)
            return (twin or store(session, received, made_by, upload.kind, path, upload.sha256, size)).id

    async with write_slot(request.app, UPLOAD_WRITE_TIMEOUT_SECONDS):
        return await run_in_threadpool(store_once)


def _find_twin(db: Database, upload: Upload) -> int | None:
    with db.read() as session:
        file = upload.find_twin(session, upload.find_maker(session, False))
        return file.id if file else None

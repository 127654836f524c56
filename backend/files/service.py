"""Stored files. Functions run in the caller's transaction, and bytes are removed after its commit."""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backend.database.engine import Database, after_commit
from backend.database.tables import File, LogLine, StoredKind
from backend.errors import FieldError, Invalid, NotFound
from backend.files import ownership, removal, storage

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


def delete_files(session: Session, ids: Sequence[int]) -> None:
    """Delete files. The caller has cleared all references to them."""
    root = files_root(session)
    for file in session.scalars(select(File).where(File.id.in_(ids))).all():
        session.delete(file)
        after_commit(session, lambda stored=file.stored_path: removal.remove(root, stored))  # type: ignore[misc]
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
    if (warning := ownership.check_owner(database, database.files_dir)) is not None:
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

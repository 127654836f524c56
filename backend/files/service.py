"""Rows of files; every function works inside the caller's transaction, and bytes are removed after its commit."""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backend.database.engine import Database, after_commit
from backend.database.tables import File
from backend.errors import FieldError, Invalid, NotFound
from backend.files import ownership, removal, storage
from workers.contract.worker_api import FileKind

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Maker:
    """Who made a file: an attempt at a run, or at a job for it or for nobody's run."""

    run_id: int | None
    attempt: int
    job_id: int | None = None


def find_file(session: Session, file_id: int) -> File:
    """The file, or a problem that says there is none."""
    file = session.get(File, file_id)
    if file is None:
        raise NotFound(f"There is no file {file_id}.")
    return file


def uploaded(session: Session, made_by: Maker, path: str, sha256: str) -> File | None:
    """The file that the same upload made before."""
    return session.scalar(_of_attempt(made_by, path).where(File.sha256 == sha256))


def reported_file(session: Session, made_by: Maker, path: str) -> File:
    """The file that an event names; its worker uploads it before it sends the event."""
    file = session.scalar(_of_attempt(made_by, path))
    if file is None:
        message = f"{path[:255]} was not uploaded; upload a file before its event"
        raise Invalid(FieldError(field="events", message=message))
    return file


def keep(session: Session, received: Path, made_by: Maker, kind: FileKind, path: str, sha256: str, size: int) -> File:
    """Give received bytes a row and their place; an earlier file of the same attempt and path is deleted."""
    if (replaced := session.scalar(_of_attempt(made_by, path))) is not None:
        delete_files(session, [replaced.id])
    file = File(
        run_id=made_by.run_id,
        attempt=made_by.attempt,
        job_id=made_by.job_id,
        kind=kind,
        path=path,
        stored_path=_new_place(made_by.run_id),
        sha256=sha256,
        bytes=size,
    )
    session.add(file)
    session.flush()
    storage.settle(received, files_root(session), file.stored_path)
    return file


def copy_file(session: Session, file: File, run_id: int) -> File:
    """The same content as a file of another run, before its first attempt; either may be deleted without the other."""
    copy = File(
        run_id=run_id,
        attempt=0,
        kind=file.kind,
        path=file.path,
        stored_path=_new_place(run_id),
        sha256=file.sha256,
        bytes=file.bytes,
    )
    session.add(copy)
    session.flush()
    try:
        storage.duplicate(files_root(session), file.stored_path, copy.stored_path)
    except FileNotFoundError as error:
        raise NotFound(f"The content of file {file.id} is gone from the server's disk.") from error
    return copy


def delete_files(session: Session, ids: Sequence[int]) -> None:
    """Delete the files. Clear every reference to them first."""
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
    """Where files lie."""
    root: Path = session.info["files_dir"]
    return root


def sweep(database: Database) -> None:
    """Put what a crash left on disk without a row into the trash, unless the files are another database's."""
    if (sentence := ownership.dispute(database, database.files_dir)) is not None:
        log.warning(sentence)
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


def _folder(run_id: int | None) -> str:
    return "played" if run_id is None else f"run-{run_id}"


def _new_place(run_id: int | None) -> str:
    """A fresh random place: the worker's name for the file has no part in it."""
    return f"{_folder(run_id)}/{secrets.token_hex(16)}"

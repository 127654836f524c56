"""Files on disk: atomic writes at paths that the server chooses, their owner, and their removal."""

import contextlib
import errno
import fcntl
import hashlib
import logging
import os
import secrets
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Set
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import File, Installation
from arcadia_backend.errors import FieldError, Invalid, NotFound, Problem
from arcadia_backend.failure_log import FailureLog
from arcadia_backend.refusals import NotNowError
from arcadia_workers.contract.layout import OutsideFolderError, path_inside

log = logging.getLogger(__name__)

INCOMING = "incoming"
# An upload without a write for this long is abandoned, also one to another backend process.
ABANDONED_SECONDS = 600
# The start of the name of an upload in pieces, which `pieces.py` removes.
PART = "part-"
TRASH = "trash"
# Long enough to notice a missing file, and to restore it from the trash.
TRASH_SECONDS = 7 * 24 * 3600
BLOCK_BYTES = 1 << 20


class TooLarge(Problem):
    """The file is larger than allowed."""

    status = 413
    kind = "too-large"
    title = "File too large"


class DiskFull(Problem):
    """The disk has no space for the file. The worker may try again later."""

    status = 507
    kind = "disk-full"
    title = "No space left"


def stored_path(root: Path, stored: str) -> Path:
    """Return the path of a stored file. Raise NotFound if its row has a path outside the files folder."""
    try:
        return path_inside(root, stored)
    except OutsideFolderError as error:
        message = "The stored path of this file is outside the data folder, so it was not opened."
        raise NotFound(message) from error


def new_incoming_path(root: Path) -> Path:
    """Return an unused path for a file that is not stored yet. A later sweep removes it if a crash leaves it."""
    path = root / INCOMING / secrets.token_hex(16)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


async def receive(body: AsyncIterator[bytes], root: Path, limit: int, sha256: str | None) -> tuple[Path, int]:
    """Write a body to a temporary file, and check its hash if it is known. Return its path and size."""
    path = new_incoming_path(root)
    try:
        return path, await _receive_into(path, body, limit, sha256)
    except BaseException as error:
        path.unlink(missing_ok=True)
        raise_disk_full(error)
        raise


def raise_disk_full(error: BaseException) -> None:
    """Raise DiskFull if that is what an error means."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise DiskFull("The server's disk is full. Free some space, then upload the file again.") from error


async def _receive_into(path: Path, body: AsyncIterator[bytes], limit: int, sha256: str | None) -> int:
    digest, size, block = hashlib.sha256(), 0, bytearray()
    with path.open("xb") as file:

        def write() -> None:
            digest.update(block)
            file.write(block)
            file.flush()
            block.clear()

        async for part in body:
            size += len(part)
            if size > limit:
                raise TooLarge(f"The file is larger than the {limit:,} bytes allowed.")
            block += part
            if len(block) >= BLOCK_BYTES:
                await run_in_threadpool(write)
        await run_in_threadpool(write)
        await run_in_threadpool(os.fsync, file.fileno())
    if sha256 is not None and digest.hexdigest() != sha256:
        raise _wrong_hash()
    return size


async def check_repeat(body: AsyncIterator[bytes], sha256: str) -> None:
    """Read the body of a file that is stored. Raise Invalid if its hash is another.

    It is read to the end, so that the connection is not reset while the client sends.
    """
    digest = hashlib.sha256()
    async for part in body:
        digest.update(part)
    if digest.hexdigest() != sha256:
        raise _wrong_hash()


def _wrong_hash() -> Invalid:
    return Invalid(FieldError(field="sha256", message="does not match the received body. Send the file again"))


def move_into_place(path: Path, root: Path, stored: str) -> None:
    """Move a received file to its path. A crash leaves it at one path or the other."""
    place = stored_path(root, stored)
    place.parent.mkdir(parents=True, exist_ok=True)
    path.replace(place)
    _sync_folder(place.parent)


def duplicate(root: Path, stored: str, copy: str) -> None:
    """Store the same content at a second path."""
    place = stored_path(root, copy)
    link_or_copy(stored_path(root, stored), place)
    _sync_folder(place.parent)


def link_or_copy(source: Path, place: Path) -> None:
    """Create a hard link, or a copy if that fails. Stored files are never modified."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        place.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, place)


def remove_folder(root: Path, folder: str) -> None:
    """Remove the folder of a run if it is empty."""
    with contextlib.suppress(OSError):
        (root / folder).rmdir()


def stored_files(root: Path) -> list[Path]:
    """Return all files that were or are being uploaded."""
    return [path for path in root.glob("*/*") if path.is_file()]


def sweep(root: Path, known: Set[str]) -> None:
    """Move abandoned uploads, and files without a row, into the trash. A crash may leave such files."""
    _empty_trash(root)
    old = time.time() - ABANDONED_SECONDS
    # Find all of them first, because moving a file renews the time of its hard links.
    for path in [path for path in stored_files(root) if _is_abandoned(root, path, known, old)]:
        place = path.relative_to(root)
        # Another backend may have moved or finished the file.
        with contextlib.suppress(FileNotFoundError):
            target = root / TRASH / place
            target.parent.mkdir(parents=True, exist_ok=True)
            # The time in the trash starts now.
            os.utime(path)
            path.replace(target)
            log.info("Moved the abandoned file %s to %s", place, root / TRASH)


def _is_abandoned(root: Path, path: Path, known: Set[str], old: float) -> bool:
    """Return True if a file has no row, and was not written to for long."""
    if path.name.startswith(PART) and path.parent.name == INCOMING:
        return False
    try:
        return path.relative_to(root).as_posix() not in known and path.stat().st_mtime < old
    except FileNotFoundError:
        return False


def _empty_trash(root: Path) -> None:
    old = time.time() - TRASH_SECONDS
    for path in [path for path in root.glob(f"{TRASH}/*/*") if path.is_file()]:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < old:
                path.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


MARK = ".installation"


def check_owner(database: Database, root: Path) -> str | None:
    """Return a warning if the folder belongs to another database. Mark a folder that has no owner yet."""
    with database.write() as session:
        row = {"identity": secrets.token_hex(16)}
        # If several backends start together, one adds the row, and the others wait for its commit.
        added = session.execute(
            text("INSERT INTO installation (id, identity) VALUES (1, :identity) ON CONFLICT (id) DO NOTHING"), row
        )
        ours = session.get_one(Installation, 1)
        _claim_folder(session, root, ours, is_new=added.rowcount == 1)  # type: ignore[attr-defined]
        if read_mark(root) == ours.identity:
            return None
        return (
            f"{root} belongs to another database, so its files are not swept. Start with the right database, or "
            f"with another data folder. If the two do belong together, write {ours.identity} into {root / MARK}."
        )


def read_identity(database: Database) -> str:
    """Return the identity of the database. Call `check_owner` first, which creates it."""
    with database.read() as session:
        return session.get_one(Installation, 1).identity


def _claim_folder(session: Session, root: Path, ours: Installation, *, is_new: bool) -> None:
    marked = read_mark(root)
    if not stored_files(root):
        write_mark(root, ours.identity)
    elif is_new and _has_file_in(session, root):
        ours.identity = marked or ours.identity
        write_mark(root, ours.identity)


def read_mark(root: Path) -> str | None:
    """Return the identity of a files folder, or None."""
    try:
        return (root / MARK).read_text().strip() or None
    except FileNotFoundError:
        return None


def write_mark(root: Path, identity: str) -> None:
    """Write the identity of a files folder."""
    root.mkdir(parents=True, exist_ok=True)
    fresh = root / f"{MARK}.new"
    with fresh.open("w") as file:
        file.write(f"{identity}\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(root / MARK)


def _has_file_in(session: Session, root: Path) -> bool:
    """Return True if the folder has one of the database's files. Paths are random, so this proves ownership."""
    return any(_is_stored(root, place) for place in session.scalars(select(File.stored_path)))


def _is_stored(root: Path, place: str) -> bool:
    try:
        return path_inside(root, place).is_file()
    except OutsideFolderError:
        return False


HOLD = ".hold"
# Locked by the running backup, which then waits for HOLD until a removal is done.
BACKUP = ".backup"

# Files to remove after the backup. After a crash the sweep at the next start finds them.
_waiting: defaultdict[Path, set[str]] = defaultdict(set)
_failures = FailureLog(log)
_lock = threading.Lock()


@contextmanager
def hold(root: Path) -> Iterator[None]:
    """Suspend the removal of files in all backends until the block ends. Raise NotNowError during another backup."""
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(root / BACKUP, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            raise NotNowError(f"Another backup of {root.parent} is running. Wait until it is done.") from None
        stack.enter_context(_locked(root / HOLD, fcntl.LOCK_EX))
        yield


def remove(root: Path, stored: str) -> None:
    """Remove a file now, or after the running backup. Ignore a missing file."""
    with _lock:
        _waiting[root].add(stored)
    remove_waiting(root)


def remove_waiting(root: Path) -> None:
    """Remove the waiting files, unless a backup is running."""
    with _lock:
        if not _waiting[root]:
            return
        try:
            with _locked(root / HOLD, fcntl.LOCK_SH | fcntl.LOCK_NB):
                _waiting[root] = {stored for stored in _waiting[root] if not _removed(root, stored)}
        except BlockingIOError:
            return


def _removed(root: Path, stored: str) -> bool:
    """Remove one file. Return False to try again later."""
    try:
        path = path_inside(root, stored)
    except OutsideFolderError as error:
        log.warning("A deleted file is left on disk: %s", error)
        return True
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _failures.failed(f"Cannot remove {path}. Will retry", error, traceback=False, level=logging.WARNING)
        return False
    _failures.recovered(f"Cannot remove {path}. Will retry")
    return True


@contextmanager
def _locked(file: Path, how: int) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)

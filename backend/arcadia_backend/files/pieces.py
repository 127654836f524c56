"""Uploads in pieces: a broken connection continues at the bytes that the server has."""

import contextlib
import fcntl
import hashlib
import logging
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.errors import Problem
from arcadia_backend.files.service import Maker, Upload, keep
from arcadia_backend.files.storage import BLOCK_BYTES, INCOMING, PART, TooLarge, raise_disk_full
from arcadia_workers.contract.worker_api import UPLOAD_OFFSET, UploadProgress

# A worker may be cut off for long.
ABANDONED_SECONDS = 24 * 3600

log = logging.getLogger(__name__)


class UploadOffset(Problem):
    """A piece does not start where the received bytes end. The worker requests the place to continue."""

    status = 409
    kind = UPLOAD_OFFSET
    title = "Upload continues elsewhere"


@dataclass(frozen=True)
class Piece:
    """The part of a file that a request sends."""

    path: str
    offset: int
    # Of the whole file.
    size: int


def read_progress(db: Database, settings: Settings, upload: Upload, path: str) -> UploadProgress:
    """Return how much of a file was received."""
    part, file_id = _find(db, settings, upload, path)
    return UploadProgress(file_id=file_id, offset=_size(part))


async def receive_piece(
    request: Request, db: Database, settings: Settings, upload: Upload, piece: Piece
) -> UploadProgress:
    """Append the body of a request to a file. Store the file once it is complete and has the announced hash."""
    if piece.size > settings.max_file_bytes:
        raise TooLarge(f"The file is larger than the {settings.max_file_bytes:,} bytes allowed.")
    part, file_id = await run_in_threadpool(_find, db, settings, upload, piece.path)
    if file_id is not None:
        return UploadProgress(file_id=file_id, offset=piece.size)
    received = await append(request.stream(), part, piece.offset, piece.size)
    if received < piece.size:
        return UploadProgress(file_id=None, offset=received)
    await run_in_threadpool(check, part, upload.sha256)
    file_id = await keep(request, db, upload, part, lambda: piece.path, piece.size)
    part.unlink(missing_ok=True)
    return UploadProgress(file_id=file_id, offset=piece.size)


def _find(db: Database, settings: Settings, upload: Upload, path: str) -> tuple[Path, int | None]:
    """Return where the pieces of a file are, and the file if it is complete."""
    with db.read() as session:
        maker = upload.find_maker(session, False)
        twin = upload.find_twin(session, maker)
    return part_path(settings.files_dir, maker, path, upload.sha256), twin.id if twin else None


def part_path(root: Path, maker: Maker, path: str, sha256: str) -> Path:
    """Return the path of an incomplete file. Each attempt and each content has another one."""
    name = hashlib.sha256(repr((maker, path, sha256)).encode()).hexdigest()
    return root / INCOMING / f"{PART}{name}"


async def append(body: AsyncIterator[bytes], part: Path, offset: int, size: int) -> int:
    """Append a piece to an incomplete file, and return its new size. What arrives before an error is kept."""
    part.parent.mkdir(parents=True, exist_ok=True)
    block = bytearray()
    with _opened(part, offset) as file:

        def write() -> None:
            while block:
                del block[: file.write(block)]

        try:
            async for content in _at_most(size - offset, body):
                block += content
                if len(block) >= BLOCK_BYTES:
                    await run_in_threadpool(write)
        finally:
            write()
        if (received := file.tell()) == size:
            await run_in_threadpool(os.fsync, file.fileno())
    return received


@contextmanager
def _opened(part: Path, offset: int) -> Iterator[FileIO]:
    """Open an incomplete file for one request at its end. Raise UploadOffset if that is elsewhere."""
    try:
        # Without a buffer, so that the size of the file is what was received.
        with part.open("ab", buffering=0) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UploadOffset("Another connection is sending this file.") from None
            if (received := file.tell()) != offset:
                raise UploadOffset(f"The piece starts at byte {offset:,}, but {received:,} bytes were received.")
            yield file
    except OSError as error:
        raise_disk_full(error)
        raise


async def _at_most(limit: int, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for content in body:
        limit -= len(content)
        if limit < 0:
            raise TooLarge("The piece is longer than the rest of the announced file.")
        yield content


def check(part: Path, sha256: str) -> None:
    """Raise UploadOffset if a complete file has another hash, so that it is sent again from its start."""
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        part.unlink(missing_ok=True)
        raise UploadOffset("The received file does not have the announced hash. Send it again from the start.")


def remove_abandoned(root: Path) -> None:
    """Remove incomplete files without a new piece for a day."""
    old = time.time() - ABANDONED_SECONDS
    for part in root.glob(f"{INCOMING}/{PART}*"):
        with contextlib.suppress(FileNotFoundError):
            if part.stat().st_mtime < old:
                part.unlink()
                log.info("Removed the incomplete upload %s.", part.name)


def _size(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0

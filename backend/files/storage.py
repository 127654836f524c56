"""Bytes on disk: written whole or not at all, at paths that the server chooses."""

import contextlib
import errno
import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Set
from pathlib import Path

from fastapi.concurrency import run_in_threadpool

from backend.errors import FieldError, Invalid, NotFound, Problem
from workers.contract.paths import OutsideFolderError, path_inside

log = logging.getLogger(__name__)

INCOMING = "incoming"
# An upload in progress was written to more lately than this, also one to another backend process.
ABANDONED_SECONDS = 600
TRASH = "trash"
# Long enough to notice that something is missing, and to put it back from there.
TRASH_SECONDS = 7 * 24 * 3600
BLOCK = 1 << 20


class TooLarge(Problem):
    """The file is larger than allowed."""

    status = 413
    kind = "too-large"
    title = "File too large"


class DiskFull(Problem):
    """There is no room for the file; the worker may try again later."""

    status = 507
    kind = "disk-full"
    title = "No space left"


def place_of(root: Path, stored: str) -> Path:
    """Return where a file is stored. Raise NotFound if its row names a place outside the files root."""
    try:
        return path_inside(root, stored)
    except OutsideFolderError as error:
        message = "The database names a place outside the data folder for this file, so it is not opened."
        raise NotFound(message) from error


async def receive(body: AsyncIterator[bytes], root: Path, limit: int, sha256: str) -> tuple[Path, int]:
    """Write a body to a temporary file that is safe on disk and has the expected hash: its path and size."""
    path = root / INCOMING / secrets.token_hex(16)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return path, await _receive_into(path, body, limit, sha256)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull("The server's disk is full; once there is space the upload can be sent again.") from error
        raise


async def _receive_into(path: Path, body: AsyncIterator[bytes], limit: int, sha256: str) -> int:
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
            if len(block) >= BLOCK:
                await run_in_threadpool(write)
        await run_in_threadpool(write)
        await run_in_threadpool(os.fsync, file.fileno())
    if digest.hexdigest() != sha256:
        raise Invalid(FieldError(field="sha256", message="does not match the body that came; send it again"))
    return size


def settle(path: Path, root: Path, stored: str) -> None:
    """Move a received file to its place, so that a crash leaves it in one place or the other."""
    place = place_of(root, stored)
    place.parent.mkdir(parents=True, exist_ok=True)
    path.replace(place)
    _sync_folder(place.parent)


def duplicate(root: Path, stored: str, copy: str) -> None:
    """A second place for the same bytes."""
    place = place_of(root, copy)
    link_or_copy(place_of(root, stored), place)
    _sync_folder(place.parent)


def link_or_copy(source: Path, place: Path) -> None:
    """A link, or a copy where the file system has none; what lies here is never changed in place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        place.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, place)


def remove_folder(root: Path, folder: str) -> None:
    """Remove the folder of a run, unless files are left in it that no row named."""
    with contextlib.suppress(OSError):
        (root / folder).rmdir()


def stored_files(root: Path) -> list[Path]:
    """Every file that was uploaded or is being uploaded, wherever it stands."""
    return [path for path in root.glob("*/*") if path.is_file()]


def sweep(root: Path, known: Set[str]) -> None:
    """Put what a crash left behind into the trash: uploads that nobody writes to, and files that no row names."""
    _empty_trash(root)
    old = time.time() - ABANDONED_SECONDS
    for path in stored_files(root):
        place = path.relative_to(root)
        # Another backend that starts too may have been faster, or one that runs may have taken what it received.
        with contextlib.suppress(FileNotFoundError):
            if place.as_posix() not in known and path.stat().st_mtime < old:
                _throw_away(path, root / TRASH / place)
                log.info("moved the abandoned file %s to %s", place, root / TRASH)


def _throw_away(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # Its days in the trash begin now.
    os.utime(path)
    path.replace(target)


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

"""Bytes on disk: written whole or not at all, in places that no client names."""

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

from backend.errors import FieldError, Invalid, Problem

log = logging.getLogger(__name__)

INCOMING = "incoming"
# An upload in progress was written to more lately than this, also one to another backend process.
ABANDONED_SECONDS = 600
BLOCK = 1 << 20


class TooLarge(Problem):
    """More bytes came than a file may have."""

    status = 413
    kind = "too-large"
    title = "File too large"


class DiskFull(Problem):
    """There is no room for the file; the worker may try again later."""

    status = 507
    kind = "disk-full"
    title = "No space left"


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
    place = root / stored
    place.parent.mkdir(parents=True, exist_ok=True)
    path.replace(place)
    _sync_folder(place.parent)


def duplicate(root: Path, stored: str, copy: str) -> None:
    """A second place for the same bytes: a link, or a copy where the file system has none."""
    place = root / copy
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        place.hardlink_to(root / stored)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(root / stored, place)
    _sync_folder(place.parent)


def remove(root: Path, stored: str) -> None:
    """Remove a file's bytes; it is no error if they are gone."""
    (root / stored).unlink(missing_ok=True)


def remove_folder(root: Path, folder: str) -> None:
    """Remove everything of a run."""
    shutil.rmtree(root / folder, ignore_errors=True)


def sweep(root: Path, known: Set[str]) -> None:
    """Remove what a crash left behind: uploads that nobody writes to, and files that no row names."""
    if not root.is_dir():
        return
    old = time.time() - ABANDONED_SECONDS
    for path in [path for path in root.glob("*/*") if path.is_file()]:
        if path.relative_to(root).as_posix() not in known and path.stat().st_mtime < old:
            log.info("removed the abandoned file %s", path)
            path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

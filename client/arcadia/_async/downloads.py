"""Downloads that appear complete under their name, and that continue where an earlier one was interrupted."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

import httpx

from arcadia._async.sleeping import sleep
from arcadia._async.transport import AsyncTransport
from arcadia.errors import DownloadError, ServerUnreachableError
from arcadia.progress import ProgressBar, format_size

BLOCK_BYTES = 1 << 20
MAX_INTERRUPTIONS = 5
PAUSE_SECONDS = 0.5
# A range of a compressed file is not a range of the file.
UNCOMPRESSED = {"Accept-Encoding": "identity"}
_SHA256 = re.compile(r'"([0-9a-f]{64})"')


@dataclass(frozen=True)
class RemoteFile:
    """A file of the server: its number, its ETag with the hash, and its size, which may be unknown."""

    id: int
    etag: str
    size: int | None

    @property
    def sha256(self) -> str | None:
        """Hash of the content, or None if the server does not send it."""
        match = _SHA256.search(self.etag)
        return match[1] if match else None


async def download(
    transport: AsyncTransport,
    file_id: int,
    path: str | os.PathLike[str] | None,
    name: str,
    *,
    progress: bool = True,
) -> Path:
    """Save a file under a path, or under its own name in a folder, check its hash, and return the path.

    Until the file is complete, it is stored in a hidden file next to it, which a later call continues.
    """
    target = _target(path, name)
    make_folder(target.parent)
    file = await _describe(transport, file_id)
    # The hash in the name keeps parts of different files apart.
    partial = target.with_name(f".{target.name}.{file.sha256[:12] if file.sha256 else file_id}.part")
    with ProgressBar(f"Downloading {target.name}", wanted=progress) as bar:
        await _complete(transport, file, partial, bar, target.name)
    if file.sha256 is not None and hash_of(partial) != file.sha256:
        partial.unlink()
        raise DownloadError(f"{target.name} was damaged during the download: its hash is wrong. Download it again.")
    partial.replace(target)
    return target


async def _describe(transport: AsyncTransport, file_id: int) -> RemoteFile:
    head = await transport.send("HEAD", f"/files/{file_id}", headers=UNCOMPRESSED)
    size = int(head.headers["Content-Length"]) if "Content-Length" in head.headers else None
    return RemoteFile(file_id, head.headers.get("ETag", ""), size)


async def _complete(transport: AsyncTransport, file: RemoteFile, partial: Path, bar: ProgressBar, name: str) -> None:
    """Append to a partial file until it is complete, with a few interruptions at most."""
    for interruption in range(MAX_INTERRUPTIONS + 1):
        try:
            await _continue(transport, file, partial, bar)
            break
        except httpx.TransportError as error:
            if interruption == MAX_INTERRUPTIONS:
                raise ServerUnreachableError(
                    f"The download of {name} was interrupted {MAX_INTERRUPTIONS + 1} times "
                    f"({error or type(error).__name__}). Call it again to continue."
                ) from None
            await sleep(PAUSE_SECONDS)


async def _continue(transport: AsyncTransport, file: RemoteFile, partial: Path, bar: ProgressBar) -> None:
    """Append to a partial file until it is complete or the connection breaks."""
    done = partial.stat().st_size if partial.exists() else 0
    if done and done == file.size:
        return
    remainder = {"Range": f"bytes={done}-", "If-Range": file.etag} if 0 < done < (file.size or 0) and file.etag else {}
    headers = {**UNCOMPRESSED, **remainder}
    response = await transport.send("GET", f"/files/{file.id}", headers=headers, stream=True)
    is_remainder = response.status_code == httpx.codes.PARTIAL_CONTENT
    done = done if is_remainder else 0
    try:
        with partial.open("ab" if is_remainder else "wb") as writing:
            # Blocks as they arrive: a buffer would be lost with the connection.
            async for block in response.aiter_bytes():
                writing.write(block)
                done += len(block)
                bar.update(done / file.size if file.size else 0.0, format_size(done))
    finally:
        await response.aclose()


def _target(path: str | os.PathLike[str] | None, name: str) -> Path:
    if path is None:
        return Path(name)
    target = Path(path)
    is_folder = target.is_dir() or os.fspath(path).endswith(("/", os.sep))
    return target / name if is_folder else target


def make_folder(folder: Path) -> None:
    """Create a folder unless it exists. Raise DownloadError if that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise DownloadError(f"{folder} is a file, so nothing can be saved in it. Use a folder.") from None
    except OSError as error:
        raise DownloadError(f"The folder {folder} cannot be created ({error.strerror}). Use another one.") from None


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as reading:
        while block := reading.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()

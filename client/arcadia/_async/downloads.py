"""Downloads that appear complete under their name and continue after an interruption, and archives."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from arcadia._async.transport import AsyncTransport, sleep
from arcadia.errors import DownloadError, ServerUnreachableError
from arcadia.notebook import ProgressBar, format_size
from arcadia.records.artifact import ExportedItems, FilesChoice, ImportResult

if TYPE_CHECKING:
    from arcadia._async.transport import AsyncTransport


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


SIZE_HEADER = "Arcadia-Unpacked-Bytes"


async def export_archive(
    transport: AsyncTransport,
    items: ExportedItems,
    path: str | os.PathLike[str] | None,
    *,
    files: FilesChoice,
    progress: bool,
) -> Path:
    """Save the archive of some items, and return its path."""
    params = {**items.parameters, "files": files}
    return await _export(transport, "/archives", params, path, items.file_name, progress=progress)


async def export_agent(
    transport: AsyncTransport,
    run_id: int,
    checkpoint: int | str,
    path: str | os.PathLike[str] | None,
    name: str,
    *,
    progress: bool,
) -> Path:
    """Save the agent file of a checkpoint, and return its path."""
    params = {"checkpoint": checkpoint}
    return await _export(transport, f"/runs/{run_id}/agent", params, path, name, progress=progress)


async def import_archive(
    transport: AsyncTransport, path: str | os.PathLike[str], *, project: str | None, progress: bool
) -> ImportResult:
    """Upload an archive file, and return the result of its import."""
    return ImportResult(await _import(transport, "/archives", path, {"project": project}, progress=progress))


async def import_agent(
    transport: AsyncTransport,
    path: str | os.PathLike[str],
    *,
    env: str | None,
    name: str | None,
    project: str | None,
    progress: bool,
) -> dict[str, Any]:
    """Upload an agent file, and return the result of its import."""
    params = {"env": env, "name": name, "project": project}
    return await _import(transport, "/agents", path, params, progress=progress)


async def _export(
    transport: AsyncTransport,
    address: str,
    params: Mapping[str, Any],
    path: str | os.PathLike[str] | None,
    name: str,
    *,
    progress: bool,
) -> Path:
    """Save an exported file, and return its path. It appears only when it is complete."""
    target = Path(name if path is None else path)
    target = target / name if target.is_dir() else target
    make_folder(target.parent)
    partial = target.with_name(f".{target.name}.part")
    response = await transport.send("GET", address, params=params, stream=True)
    try:
        with ProgressBar(f"Exporting {target.name}", wanted=progress) as bar:
            await _save(response, partial, bar)
        partial.replace(target)
    except httpx.TransportError as error:
        raise ServerUnreachableError(
            f"The export of {target.name} was interrupted ({error or type(error).__name__}). Export it again."
        ) from None
    finally:
        partial.unlink(missing_ok=True)
        await response.aclose()
    return target


async def _save(response: httpx.Response, partial: Path, bar: ProgressBar) -> None:
    # JSON and points are compressed, so the file is smaller than this.
    max_bytes = int(response.headers.get(SIZE_HEADER, 0))
    done = 0
    with partial.open("wb") as writing:
        async for block in response.aiter_bytes():
            writing.write(block)
            done += len(block)
            bar.update(min(done / max_bytes, 1.0) if max_bytes else 0.0, format_size(done))
    bar.update(1.0, format_size(done))


async def _import(
    transport: AsyncTransport,
    address: str,
    path: str | os.PathLike[str],
    params: Mapping[str, Any],
    *,
    progress: bool,
) -> dict[str, Any]:
    source = Path(path)
    size = source.stat().st_size
    with source.open("rb") as file, ProgressBar(f"Importing {source.name}", wanted=progress) as bar:

        async def read() -> AsyncIterator[bytes]:
            done = 0
            while block := file.read(BLOCK_BYTES):
                yield block
                done += len(block)
                bar.update(done / size, format_size(done) if done < size else "storing")

        answer: dict[str, Any] = await transport.upload(address, read(), size, **params)
        bar.update(1.0, format_size(size))
    return answer

"""Archive files and agent files: export and import."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from arcadia._async.downloads import make_folder
from arcadia.errors import ServerUnreachableError
from arcadia.progress import ProgressBar, format_size
from arcadia.records.archive import ExportedItems, FilesChoice, ImportResult

if TYPE_CHECKING:
    from arcadia._async.transport import AsyncTransport

BLOCK_BYTES = 1 << 20
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

# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Downloads that appear complete under their name, and that continue where an earlier one was interrupted."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import httpx

from arcadia._sync.sleeping import sleep
from arcadia._sync.transport import Transport
from arcadia.errors import DownloadError, ServerUnreachableError

BLOCK_BYTES = 1 << 20
MAX_INTERRUPTIONS = 5
PAUSE_SECONDS = 0.5
# A range of a compressed file is not a range of the file.
UNCOMPRESSED = {"Accept-Encoding": "identity"}
_SHA256 = re.compile(r'"([0-9a-f]{64})"')


def download(transport: Transport, file_id: int, path: str | os.PathLike[str] | None, name: str) -> Path:
    """Save a file under a path, or under its own name in a folder, check its hash, and return the path.

    Until the file is complete it is in a hidden file beside it. A later call continues that one.
    """
    target = _target(path, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    head = transport.send("HEAD", f"/files/{file_id}", headers=UNCOMPRESSED)
    etag = head.headers.get("ETag", "")
    match = _SHA256.search(etag)
    expected = match[1] if match else None
    size = int(head.headers["Content-Length"]) if "Content-Length" in head.headers else None
    # The hash in the name keeps parts of different files apart.
    partial = target.with_name(f".{target.name}.{expected[:12] if expected else file_id}.part")
    for interruption in range(MAX_INTERRUPTIONS + 1):
        try:
            _continue(transport, file_id, partial, etag, size)
            break
        except httpx.TransportError as error:
            if interruption == MAX_INTERRUPTIONS:
                raise ServerUnreachableError(
                    f"The download of {target.name} was interrupted {MAX_INTERRUPTIONS + 1} times "
                    f"({error or type(error).__name__}). Call it again to continue."
                ) from None
            sleep(PAUSE_SECONDS)
    if expected is not None and _hash_of(partial) != expected:
        partial.unlink()
        raise DownloadError(f"{target.name} was damaged on the way: its hash is wrong. Download it again.")
    partial.replace(target)
    return target


def _continue(transport: Transport, file_id: int, partial: Path, etag: str, size: int | None) -> None:
    """Append to a partial file until it is complete."""
    offset = partial.stat().st_size if partial.exists() else 0
    if offset and offset == size:
        return
    remainder = {"Range": f"bytes={offset}-", "If-Range": etag} if 0 < offset < (size or 0) and etag else {}
    headers = {**UNCOMPRESSED, **remainder}
    response = transport.send("GET", f"/files/{file_id}", headers=headers, stream=True)
    try:
        with partial.open("ab" if response.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as writing:
            # Blocks as they arrive: a buffer would be lost with the connection.
            for block in response.iter_bytes():
                writing.write(block)
    finally:
        response.close()


def _target(path: str | os.PathLike[str] | None, name: str) -> Path:
    if path is None:
        return Path(name)
    target = Path(path)
    is_folder = target.is_dir() or os.fspath(path).endswith(("/", os.sep))
    return target / name if is_folder else target


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as reading:
        while block := reading.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()

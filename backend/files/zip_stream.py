"""Zip files that are sent while they are written."""

import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

# The earliest time that a zip file can express: equal contents make equal files.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


class ZipStream:
    """Writer of a zip file. Each method yields what it has written."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._file = zipfile.ZipFile(cast("BinaryIO", self._sink), "w")

    def add(self, path: str, blocks: Iterator[bytes], *, compress: bool) -> Iterator[bytes]:
        """Add a member block by block."""
        info = zipfile.ZipInfo(path, _NO_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        info.external_attr = 0o644 << 16
        with self._file.open(info, "w", force_zip64=True) as target:
            for block in blocks:
                target.write(block)
                yield self._sink.take()
        yield self._sink.take()

    def close(self) -> Iterator[bytes]:
        """Write the end of the file."""
        self._file.close()
        yield self._sink.take()


class _Sink:
    """Write-only file that keeps what was not sent yet."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep a part."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, as every part is kept until it is taken."""

    def take(self) -> bytes:
        """Return the parts since the last call."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def read_blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield a file in blocks of this size."""
    while block := file.read(size):
        yield block

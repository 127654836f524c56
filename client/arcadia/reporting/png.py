"""Encoder of PNG files with the standard library."""

from __future__ import annotations

import struct
import zlib

# Fast, because the script waits for it.
COMPRESSION_LEVEL = 2
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def encode_png(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    """Return a PNG file of 8-bit pixels in rows: gray, gray with alpha, RGB or RGBA."""
    stride = width * channels
    view = memoryview(pixels)
    # Each row begins with the number of its filter: 0 is none.
    rows = b"".join(b"\0" + view[start : start + stride] for start in range(0, height * stride, stride))
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, COMPRESSION_LEVEL)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

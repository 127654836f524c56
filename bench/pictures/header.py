"""The hash of the page header that each picture stores, to detect outdated pictures."""

import hashlib
import re
import struct
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = tuple(ROOT / "frontend/src/app" / name for name in ("Header.tsx", "Shell.tsx", "Shell.module.css"))
KEYWORD = b"arcadia-header"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Imports and comments do not change what a picture shows.
INVISIBLE = re.compile(r"^import\b[^;]*;|/\*.*?\*/|^\s*//[^\n]*", re.MULTILINE | re.DOTALL)


def header_hash() -> str:
    """Return the hash of the header's source code."""
    code = [re.sub(r"\s+", " ", INVISIBLE.sub("", source.read_text())) for source in SOURCES]
    return hashlib.sha256("\n".join(code).encode()).hexdigest()[:16]


def add_hash(png: bytes, value: str) -> bytes:
    """Return the PNG with the hash in a text chunk after its header chunk."""
    content = b"tEXt" + KEYWORD + b"\0" + value.encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    end = len(SIGNATURE) + 25
    return png[:end] + chunk + png[end:]


def read_hash(png: bytes) -> str | None:
    """Return the hash that a PNG stores, or None."""
    found = re.search(rb"tEXt" + KEYWORD + rb"\0([0-9a-f]{16})", png)
    return found[1].decode() if found else None


def size_of(png: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height

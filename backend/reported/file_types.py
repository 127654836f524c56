"""Types of uploaded media, recognized by their first bytes."""

from pathlib import Path

from backend.errors import FieldError, Invalid

HEAD_BYTES = 64


def media_suffix(received: Path) -> str:
    """Return the suffix of a received file by its content. Raise Invalid if it is not an image or a video."""
    with received.open("rb") as file:
        head = file.read(HEAD_BYTES)
    suffix = _suffix_of(head)
    if suffix is None:
        raise Invalid(FieldError(field="body", message="send a PNG, JPEG, GIF, WebP, MP4 or WebM file"))
    return suffix


def _suffix_of(head: bytes) -> str | None:
    for magic, suffix in (
        (b"\x89PNG\r\n\x1a\n", ".png"),
        (b"\xff\xd8\xff", ".jpg"),
        (b"GIF87a", ".gif"),
        (b"GIF89a", ".gif"),
    ):
        if head.startswith(magic):
            return suffix
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    if head[4:8] == b"ftyp":
        return ".mp4"
    # Matroska has the same magic number, but another document type.
    return ".webm" if head.startswith(b"\x1a\x45\xdf\xa3") and b"webm" in head else None

"""Files of wandb, as its offline mode writes them."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def field(number: int, value: str | bytes) -> bytes:
    """Encode a field of protobuf, shorter than 128 bytes."""
    data = value.encode() if isinstance(value, str) else value
    return bytes([*varint(number << 3 | 2), *varint(len(data))]) + data


def varint(value: int) -> list[int]:
    return [value] if value < 128 else [value & 127 | 128, *varint(value >> 7)]


def item(name: str, value: Any) -> bytes:
    path = b"".join(field(2, part) for part in name.split("."))
    return path + field(16, json.dumps(value))


def write_wandb(
    folder: Path,
    steps: int,
    media: str = "media/screen.png",
    form: str = "image-file",
    run: bytes = b"",
    last: Sequence[bytes] = (),
) -> None:
    """Write an offline run as wandb does: a log with blocks of 32 KiB.

    It has one image at the path `media`. `run` has more fields of the run, and `last` more records.
    """
    run += field(1, "abc123") + field(3, "maze") + field(4, field(1, item("rate", 0.1))) + field(8, "first")
    records = [field(17, run + field(10, "baseline"))]
    for step in range(steps):
        items = [item("_step", step), item("loss", step / 2), item("train.return", math.inf), item("_timestamp", 9.5)]
        records.append(field(2, b"".join(field(1, each) for each in items)))
    image = {"_type": form, "path": media}
    screen = b"".join(field(1, item(f"screen.{name}", value)) for name, value in image.items())
    records += [field(2, field(1, item("_step", 7)) + screen), field(13, field(3, "hello\n")), *last]
    data = bytearray(b":W&B\xe1\xbe\x00")
    for record in records:
        first = True
        while record or first:
            left = 32_768 - len(data) % 32_768
            if left < 7:
                data += bytes(left)
                left = 32_768
            part, record = record[: left - 7], record[left - 7 :]
            part_kind = (1 if not record else 2) if first else (4 if not record else 3)
            data += struct.pack("<IHB", 0, len(part), part_kind) + part
            first = False
    (folder / "files" / "media").mkdir(parents=True)
    (folder / "files" / "media" / "screen.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "run-abc123.wandb").write_bytes(data)

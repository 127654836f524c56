"""Parser of Protobuf's wire format. Fields are found by number, so no message definitions are needed."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import Any


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field: an int for a varint, otherwise bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind = key & 7
        if kind == 0:
            value, position = _varint(data, position)
            yield key >> 3, value
            continue
        if kind == 2:
            size, position = _varint(data, position)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field has the unknown kind {kind}")
        if position + size > len(data):
            raise ValueError("a field ends early")
        yield key >> 3, data[position : position + size]
        position += size


def message(data: bytes) -> defaultdict[int, list[Any]]:
    """Return all values of each field."""
    fields_by_number: defaultdict[int, list[Any]] = defaultdict(list)
    for number, value in fields(data):
        fields_by_number[number].append(value)
    return fields_by_number


def text(values: list[Any]) -> str:
    """Return the last value of a text field."""
    return values[-1].decode(errors="replace") if values else ""


def signed(values: list[Any]) -> int:
    """Return the last value of an integer field."""
    value = int(values[-1]) if values else 0
    return value - 2**64 if value >= 2**63 else value


def numbers(values: list[bytes], code: str) -> list[float]:
    """Return repeated floats (`f`) or doubles (`d`), packed or not."""
    data = b"".join(values)
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise ValueError("a number ends early")
        byte = data[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position

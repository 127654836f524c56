"""Encoding of values as JSON. Metrics have a fast path; all other values are made storable first."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

MAX_INT = 2**63 - 1
# Limit of the cache of encoded names, because a script may generate names.
MAX_CACHED_NAMES = 10_000
MAX_DEPTH = 50


class UnstorableError(Exception):
    """A value that is not a number."""


class MetricsEncoder:
    """Encoder of events with metrics. It caches the encoded names, because encoding them takes most of the time."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def encode(self, step: int, now: float, values: Mapping[str, Any], rejected: list[tuple[str, Any]]) -> bytes | None:
        """Return the line of an event, or None without a number. Values that are not numbers go to `rejected`."""
        names = self._names
        parts = []
        for name, value in values.items():
            kind = type(value)
            if kind is float:
                text = repr(value) if math.isfinite(value) else _name_of(value)
            elif kind is int and -MAX_INT <= value <= MAX_INT:
                text = repr(value)
            else:
                try:
                    text = encode_number(value)
                except UnstorableError:
                    rejected.append((name, value))
                    continue
            parts.append((names.get(name) or self._add(name)) + text)
        if not parts:
            return None
        return f'{{"kind":"metrics","time":{now:.6f},"step":{step},"values":{{{",".join(parts)}}}}}\n'.encode()

    def _add(self, name: str) -> str:
        if len(self._names) >= MAX_CACHED_NAMES:
            self._names.clear()
        found = self._names[name] = json.dumps(clean_text(str(name))) + ":"
        return found


def encode_number(value: Any) -> str:
    """Return a number, or an array or tensor with one element, as JSON. Raise UnstorableError for other values."""
    if not isinstance(value, int | float) and hasattr(value, "item"):
        try:
            value = value.item()
        except (TypeError, ValueError, RuntimeError):
            raise UnstorableError from None
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int) and -MAX_INT <= value <= MAX_INT:
        return str(int(value))
    if isinstance(value, str | bytes | complex):
        raise UnstorableError
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        raise UnstorableError from None
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return repr(number) if math.isfinite(number) else _name_of(number)


def flatten(values: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of nested mappings: {"train": {"loss": 1}} has train/loss."""
    for name, value in values.items():
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            yield from flatten(value, f"{prefix}{name}/", depth + 1)
        else:
            yield f"{prefix}{name}", value


def encode_event(event: Mapping[str, Any], now: float) -> bytes:
    """Return the line of an event. The kind is first, so that readers find it without parsing."""
    fields = {"kind": event["kind"], "time": round(now, 6), **event}
    return json.dumps(storable(fields), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def storable(value: Any, depth: int = 0) -> Any:
    """Return a value that JSON can store. Other objects become their text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -MAX_INT <= value <= MAX_INT else float(value) if abs(value) < 2**1023 else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _name_of(value).strip('"')
    if isinstance(value, str):
        return clean_text(str(value))
    if depth >= MAX_DEPTH:
        return clean_text(repr(value)[:1_000])
    if isinstance(value, Mapping):
        return {clean_text(str(name)): storable(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [storable(each, depth + 1) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: storable(getattr(value, each.name), depth + 1) for each in dataclasses.fields(value)}
    if hasattr(value, "tolist"):
        return storable(value.tolist(), depth + 1)
    return clean_text(str(value))


def clean_text(text: str) -> str:
    """Return a text that every database can store: without NUL and lone surrogates."""
    return text.encode(errors="replace").decode().replace("\0", "�") if not text.isascii() or "\0" in text else text


def _name_of(value: float) -> str:
    """Return the API's string for NaN or an infinity, which JSON does not have."""
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'

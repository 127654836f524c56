"""Checks and encoding of logged values. Metrics have a fast path; all other values are made storable first."""

from __future__ import annotations

import ast
import dataclasses
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

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
        prefix = self._names[name] = json.dumps(clean_text(str(name))) + ":"
        return prefix


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


Level = Literal["info", "warning", "error"]
# Levels of other tools, and the level here that is nearest to each.
_LEVELS: dict[str, Level] = {
    "debug": "info",
    "info": "info",
    "notice": "info",
    "warn": "warning",
    "warning": "warning",
    "error": "error",
    "exception": "error",
    "critical": "error",
    "fatal": "error",
}
MAX_QUOTED = 50


def to_text(value: Any) -> str | None:
    """Return a value as text, or None if it is None."""
    return None if value is None else str(value)


def to_texts(values: Any) -> list[str]:
    """Return a value, or each of several values, as texts."""
    if values is None:
        return []
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [str(values)]
    return [str(value) for value in values]


def to_step(value: Any) -> int | None:
    """Return a value as a whole number that the server stores, or None if it is not one."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return number if -MAX_INT <= number <= MAX_INT else None


def to_total_steps(value: Any) -> int | None:
    """Return a number of steps, such as 1_000, 1e6 or "1e6", or None if the value is not a positive whole number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return to_step(value if isinstance(value, int) else number) if number >= 1 and number.is_integer() else None


def to_level(value: Any) -> Level | None:
    """Return the level that is nearest to a name of one, or None if the name is unknown."""
    return _LEVELS.get(str(value).strip().lower())


def quoted(value: Any) -> str:
    """Return a wrong value as messages show it."""
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…"


# A text with a leading zero, such as 007, or with another trailing zero than .0, such as the version 1.10, stays one.
_WHOLE = r"(?:0|[1-9]\d{0,14})"
_FRACTION = r"(?:0|\d*[1-9])"
_NUMBER = re.compile(rf"[+-]?(?:{_WHOLE}|{_WHOLE}?\.{_FRACTION}|{_WHOLE}\.)(?:[eE][+-]?\d{{1,3}})?")
# How CleanRL and its descendants log their arguments.
_TABLE = re.compile(
    r"\s*\|\s*(?:hyper)?param(?:eter)?s?\s*\|\s*values?\s*\|\s*\n\s*\|[-: ]+\|[-: ]+\|\s*(?:\n|$)", re.IGNORECASE
)
MAX_LITERAL = 1_000


def typed(value: Any, depth: int = 0) -> Any:
    """Return a setting with the numbers in it that are texts, as from argparse without a type or from YAML's 1e-3."""
    if isinstance(value, str):
        return _to_number(value) if _NUMBER.fullmatch(value) else value
    if depth >= MAX_DEPTH:  # for example, a dict that contains itself
        return value
    if isinstance(value, Mapping):
        return {name: typed(each, depth + 1) for name, each in value.items()}
    if type(value) in (list, tuple):
        return [typed(each, depth + 1) for each in value]
    return value


def read_settings_table(text: str) -> dict[str, Any] | None:
    """Return the settings of a Markdown table with a parameter and its value in each row, or None for other text."""
    if not (header := _TABLE.match(text)):
        return None
    rows = [row.strip().removeprefix("|").removesuffix("|").split("|", 1) for row in text[header.end() :].splitlines()]
    return {name.strip(): _to_literal(value.strip()) for name, value in (row for row in rows if len(row) == 2)}


def _to_number(text: str) -> Any:
    number = float(text)
    if not math.isfinite(number):
        return text
    return int(text) if text.lstrip("+-").isdecimal() else number


def _to_literal(text: str) -> Any:
    """Return a value that Python prints in this way, or the text itself."""
    try:
        literal = ast.literal_eval(text) if len(text) <= MAX_LITERAL else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    is_value = literal is None or isinstance(literal, bool | list | tuple | dict)
    return literal if is_value else typed(text)

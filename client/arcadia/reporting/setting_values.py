"""Settings as values: numbers that arrive as text, and tables of settings in text."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from typing import Any

# A text with a leading zero, such as 007, or with another trailing zero than .0, such as the version 1.10, stays one.
_WHOLE = r"(?:0|[1-9]\d{0,14})"
_FRACTION = r"(?:0|\d*[1-9])"
_NUMBER = re.compile(rf"[+-]?(?:{_WHOLE}|{_WHOLE}?\.{_FRACTION}|{_WHOLE}\.)(?:[eE][+-]?\d{{1,3}})?")
# How CleanRL and its descendants log their arguments.
_TABLE = re.compile(
    r"\s*\|\s*(?:hyper)?param(?:eter)?s?\s*\|\s*values?\s*\|\s*\n\s*\|[-: ]+\|[-: ]+\|\s*(?:\n|$)", re.IGNORECASE
)
MAX_LITERAL = 1_000
MAX_DEPTH = 50


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
        found = ast.literal_eval(text) if len(text) <= MAX_LITERAL else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    is_value = found is None or isinstance(found, bool | list | tuple | dict)
    return found if is_value else typed(text)

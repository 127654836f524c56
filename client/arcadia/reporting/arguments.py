"""Arguments of a script as values that the server takes. A mistake in one must not end the script or lose its run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from arcadia.reporting.values import MAX_INT

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

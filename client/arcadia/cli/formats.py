"""Formats of numbers, times and texts for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

MISSING = "–"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SEED = re.compile(r" seed \d+$")
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def clean(text: object) -> str:
    """Return a text without control characters, which could change the terminal."""
    return _CONTROL.sub("�", str(text))


def to_float(value: Any) -> float | None:
    """Return a number of the API. NaN and the infinities are strings there."""
    return None if value is None else float(value)


def number(value: Any) -> str:
    """Return a number with four significant digits."""
    found = to_float(value)
    if found is None:
        return MISSING
    return f"{found:,.0f}" if abs(found) >= 1_000 and found == found else f"{found:.4g}"


def count(value: int | None) -> str:
    """Return a whole number with thousands separators."""
    return MISSING if value is None else f"{value:,}"


def steps(done: int, total: int | None) -> str:
    """Return the number of finished steps, with the total if it is known."""
    return count(done) if total is None else f"{count(done)} of {count(total)}"


def duration(seconds: float | None) -> str:
    """Return a duration in its two largest units."""
    if seconds is None:
        return MISSING
    left = int(seconds)
    parts: list[str] = []
    for unit, length in _UNITS:
        if left >= length and len(parts) < 2:
            parts.append(f"{left // length} {unit}")
        left %= length
    return " ".join(parts) or "0 s"


def age(moment: str | None) -> str:
    """Return the time since a time of the API, in its largest unit."""
    if moment is None:
        return MISSING
    seconds = (datetime.now(timezone.utc) - parse_time(moment)).total_seconds()
    return " ".join(duration(max(0.0, seconds)).split(" ")[:2])


def local_time(moment: str | None) -> str:
    """Return a time of the API in the time zone of this machine."""
    return MISSING if moment is None else f"{parse_time(moment).astimezone():%Y-%m-%d %H:%M:%S}"


def parse_time(moment: str) -> datetime:
    """Parse a time of the API. Python 3.10 does not know the suffix Z."""
    found = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def percent(part: float, whole: float | None) -> str:
    """Return a share as a percentage, rounded down so that 100 % means complete. A last update may exceed the goal."""
    if whole is None:
        return MISSING
    return f"{min(100, int(100 * part / whole)) if whole else 0} %"


def plural(amount: int, noun: str) -> str:
    """Return an amount with its noun."""
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def interval(low: Any, high: Any) -> str:
    """Return an interval, or nothing if there is none."""
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def name_with_seed(name: str, seed: int) -> str:
    """Return a name with a seed at its end. It replaces the seed of the given name."""
    return f"{_SEED.sub('', name)} seed {seed}"


def counts(by_state: Mapping[str, int]) -> str:
    """Return the states that occur, with their numbers."""
    return ", ".join(f"{amount:,} {state}" for state, amount in by_state.items() if amount)


def joined(texts: Iterable[object]) -> str:
    """Return texts separated by commas."""
    return ", ".join(clean(text) for text in texts) or MISSING

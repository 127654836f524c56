"""One response of the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any


class Record:
    """A response. Its properties name and type the fields that people use; `data` has all of them."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = dict(data)

    def _number(self, name: str) -> float | None:
        return parse_number(self.data.get(name))

    def _text(self, name: str) -> str | None:
        value = self.data.get(name)
        return None if value is None else str(value)

    def _integer(self, name: str) -> int | None:
        value = self.data.get(name)
        return None if value is None else int(value)

    def _time(self, name: str) -> datetime | None:
        value = self.data.get(name)
        return None if value is None else parse_time(value)

    def _required_time(self, name: str) -> datetime:
        return parse_time(self.data[name])


def parse_time(text: str) -> datetime:
    """Return a time with its zone. Python 3.10 does not read the suffix Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def parse_interval(bounds: Sequence[Any] | None) -> tuple[float, float] | None:
    """Return an interval of the API."""
    return None if bounds is None else (float(bounds[0]), float(bounds[1]))


def parse_number(value: Any) -> float | None:
    """Return a number of the API. It writes NaN and the infinities as strings."""
    return None if value is None else float(value)

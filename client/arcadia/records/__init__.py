"""Typed views of the server's responses. They make no requests."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any


class Field:
    """A field of a response, converted to the type of its annotation."""

    def __init__(self, name: str, annotation: str) -> None:
        self.name = name
        kind, _, null = annotation.partition(" | ")
        self.optional = null == "None"
        # Other lists and dictionaries are copied.
        self.convert = CONVERTERS[kind if kind in CONVERTERS else kind.partition("[")[0]]

    def __get__(self, record: Record | None, owner: type[Record]) -> Any:
        """Return the value of the field. On the class, return the field itself."""
        if record is None:
            return self
        value = record.data.get(self.name) if self.optional else record.data[self.name]
        return None if value is None and self.optional else self.convert(value)


class Record:
    """A response. Its annotations name and type the fields that people use; `data` has all of them."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = dict(data)

    def __init_subclass__(cls) -> None:
        """Make each public annotation a field."""
        super().__init_subclass__()
        for name, annotation in inspect.get_annotations(cls).items():
            if not name.startswith("_") and name not in cls.__dict__:
                setattr(cls, name, Field(name, annotation))

    def _number(self, name: str) -> float | None:
        return parse_number(self.data.get(name))

    def _text(self, name: str) -> str | None:
        value = self.data.get(name)
        return None if value is None else str(value)

    def _integer(self, name: str) -> int | None:
        value = self.data.get(name)
        return None if value is None else int(value)


def parse_time(text: str) -> datetime:
    """Return a time with its zone. Python 3.10 does not read the suffix Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def parse_interval(bounds: Sequence[Any] | None) -> tuple[float, float] | None:
    """Return an interval of the API."""
    return None if bounds is None else (float(bounds[0]), float(bounds[1]))


def parse_number(value: Any) -> float | None:
    """Return a number of the API. It writes NaN and the infinities as strings."""
    return None if value is None else float(value)


# The conversion of each type that an annotation may name.
CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "datetime": parse_time,
    "list[str]": lambda values: [str(each) for each in values],
    "list[int]": lambda values: [int(each) for each in values],
    "list": list,
    "dict": dict,
    "tuple[float, float]": parse_interval,
}

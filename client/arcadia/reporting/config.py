"""Configuration of a reported run."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from arcadia.errors import ArcadiaError


class RunConfig(MutableMapping[str, Any]):
    """Mapping of settings. Each change is logged. Keys cannot be removed."""

    def __init__(
        self,
        values: Mapping[str, Any],
        log: Callable[[dict[str, Any]], None],
        warn: Callable[[str, str], None],
    ) -> None:
        self._values, self._log, self._warn = dict(values), log, warn

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        raise ArcadiaError(f"The setting {name} cannot be removed. Set it to None.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"RunConfig({self._values!r})"

    def update(self, *values: Any, **named: Any) -> None:
        """Change or add settings: a mapping, a namespace of argparse, a dataclass, or named values.

        Leave out other objects with a warning.
        """
        changed = {name: value for each in values for name, value in self._mapping(each).items()} | named
        if changed:
            self._values |= changed
            self._log(changed)

    def _mapping(self, config: Any) -> dict[str, Any]:
        try:
            return as_mapping(config)
        except ArcadiaError as error:
            self._warn("config", f"Settings were left out. {error}")
            return {}


def as_mapping(config: Any, noun: str = "configuration") -> dict[str, Any]:
    """Return settings as a dict. Raise ArcadiaError if their type has no names."""
    if config is None:
        return {}
    if isinstance(config, argparse.Namespace):
        return vars(config)
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        return {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    try:
        return {str(name): value for name, value in dict(config).items()}
    except (TypeError, ValueError):
        raise ArcadiaError(
            f"The {noun} is a {type(config).__name__}. Use a mapping, a dataclass or a namespace of argparse."
        ) from None

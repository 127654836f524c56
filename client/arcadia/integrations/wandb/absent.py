"""Names of wandb that the stand-in does not have. Using one prints a warning and has no effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arcadia.integrations.warnings import warn_once


class Absent:
    """An object that accepts every use. It is false, and empty."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        is_decorator = len(arguments) == 1 and not named and callable(arguments[0])
        return arguments[0] if is_decorator else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {}) if name.endswith("Error") else self

    def __setattr__(self, name: str, value: Any) -> None:
        """Do nothing."""

    def __getitem__(self, name: Any) -> Any:
        return self

    def __setitem__(self, name: Any, value: Any) -> None:
        """Do nothing."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        """Do nothing."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __repr__(self) -> str:
        return f"<{self._name} is not recorded by Arcadia>"


def absent(name: str) -> Any:
    """Return a stand-in for a name of wandb, with one warning. Exception classes can be used in `except`."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name.endswith("Error"):
        return type(name, (Exception,), {})
    if name == "errors":  # its names are only used in `except`
        return Absent("wandb.errors")
    warn_once(f"wandb.{name}", f"wandb.{name} is not recorded by Arcadia and has no effect.")
    return Absent(f"wandb.{name}")

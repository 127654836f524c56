"""Mapping of a run's configuration or summary, with the methods of wandb."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from arcadia.reporting.config import as_mapping


class AttributeMapping(MutableMapping[str, Any]):
    """A mapping whose keys are also attributes. Changes are logged."""

    def __init__(self, log: Callable[[dict[str, Any]], None]) -> None:
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_log", log)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"{name} was not set") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def update(self, values: Any = None, allow_val_change: bool | None = None, **named: Any) -> None:  # type: ignore[override] # noqa: ARG002 - wandb's signature
        """Change or add values."""
        changed = as_mapping(values) | named
        self._values.update(changed)
        if changed:
            self._log(changed)

    def setdefaults(self, values: Any) -> None:
        """Add the values whose keys are missing."""
        self.update({name: value for name, value in as_mapping(values).items() if name not in self._values})

    def as_dict(self) -> dict[str, Any]:
        """Return a copy."""
        return dict(self._values)

    def set_logged(self, values: dict[str, Any]) -> None:
        """Change values without logging them, because they are logged elsewhere."""
        self._values.update(values)

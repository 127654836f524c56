"""Changes in words, for logs and figures."""

from collections.abc import Mapping
from typing import Any

from workers.contract.config import CONFIGURATIONS


def describe(algorithm: str, fields: Mapping[str, Any], previous: Mapping[str, Any]) -> str:
    """Return a sentence part such as: learning rate 0.0007 → 0.0001, total steps 1,000 → 2,000."""
    return ", ".join(
        f"{_title(algorithm, name)} {_value(previous.get(name))} → {_value(value)}" for name, value in fields.items()
    )


def _title(algorithm: str, name: str) -> str:
    configuration = CONFIGURATIONS.get(algorithm)
    field = configuration.model_fields.get(name) if configuration else None
    title = field.title if field and field.title else name
    return title[0].lower() + title[1:]


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)

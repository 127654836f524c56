"""Changes in words, for logs and marks."""

from typing import Any

from backend.database.tables import RunChange
from backend.runs.names import format_value, title_in_text


def describe(change: RunChange) -> str:
    """Return a sentence part such as: learning rate 0.0007 → 0.0001, total steps 1,000 → 2,000."""
    return ", ".join(
        f"{title_in_text(name)} {_value(change.previous.get(name))} → {_value(value)}"
        for name, value in change.fields.items()
    )


def _value(value: Any) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else format_value(value)

"""Values of configuration fields, as the databases return them."""

import json
import math
from typing import Any

MAX_EXACT_INTEGER = 2**53


def setting_value(kind: str | None, raw: Any) -> Any:
    """Return the value of a field, given its type in JSON and its text or number."""
    if kind in (None, "null"):
        return None
    if kind in ("true", "false"):
        return kind == "true"
    if kind == "boolean":
        return raw == "true"
    if kind in ("integer", "real", "number"):
        number = float(raw)
        is_whole = math.isfinite(number) and number == int(number) and abs(number) < MAX_EXACT_INTEGER
        return int(number) if is_whole else number
    return json.loads(raw) if kind in ("array", "object") else raw


def value_key(value: Any) -> tuple[str, str]:
    """Return a key that is equal for equal values. In Python 1 == True, but not in a configuration."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number", repr(float(value))) if number else (type(value).__name__, repr(value))

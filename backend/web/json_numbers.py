"""Numbers in JSON responses. JSON has no NaN and infinity, so they are sent as strings."""

import math
from typing import Annotated

from pydantic import WithJsonSchema

# For models with ser_json_inf_nan="strings".
JsonNumber = Annotated[
    float,
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]}),
]


def spelled(value: float) -> str:
    """Return a number as text, with NaN and infinity as in the API."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)

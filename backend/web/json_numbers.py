"""Numbers in answers: JSON has no NaN and no infinity, so they travel as words, and the API's description says so."""

import math
from typing import Annotated

from pydantic import WithJsonSchema

# For models with ser_json_inf_nan="strings".
JsonNumber = Annotated[
    float,
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]}),
]


def spelled(value: float) -> str:
    """Write a number out, with NaN and the infinities as the API writes them."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)

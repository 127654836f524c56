"""Numbers in answers: JSON has no NaN and no infinity, so they travel as words, and the API's description says so."""

from typing import Annotated

from pydantic import WithJsonSchema

# For models with ser_json_inf_nan="strings".
JsonNumber = Annotated[
    float,
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]}),
]

"""Description of JSON schemas as HTML, for example "string, at most 200 characters" or "list of Run"."""

from collections.abc import Iterator
from html import escape
from typing import Any

Schema = dict[str, Any]

_FORMATS = {"date-time": "date and time", "binary": "bytes"}
_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def type_of(schema: Schema) -> str:
    """Return the type, with links to the types that it contains."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#type-{name}">{name}</a>'
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(type_of(one) for one in schema[several]))
    if "const" in schema:
        return _code(schema["const"])
    if "enum" in schema:
        return " or ".join(map(_code, schema["enum"]))
    return _plain(schema)


def limits_of(schema: Schema) -> str:
    """Return the limits and the default of a value."""
    bound = [sentence.format(f"{schema[key]:,}") for key, sentence in _LIMITS.items() if key in schema]
    bound += [limit for one in schema.get("anyOf", ()) if (limit := limits_of(one))]
    if "pattern" in schema:
        bound.append(f"matches {_code(schema['pattern'])}")
    if schema.get("default") not in (None, "", [], {}):
        bound.append(f"default {_code(schema['default'])}")
    return ", ".join(bound)


def fields_of(schema: Schema) -> Iterator[tuple[str, Schema, bool]]:
    """Yield the name and schema of each field of an object, and whether it is required."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield name, field, name in required


def _plain(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_of(schema['additionalProperties'])} by name"
    return escape(_FORMATS.get(schema.get("format", ""), str(kind or "anything")))


def _code(value: Any) -> str:
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<code>{escape(written)}</code>"

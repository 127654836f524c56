"""Sort keys for configuration fields, which are stored in one JSON column."""

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Double, Text, case, cast

from backend.database.tables import Run
from workers.contract.config import config_adapter
from workers.contract.values import storable

_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"


def field_type(field: str) -> type[float] | type[str] | None:
    """Return whether the field sorts as a number or as text, or None if it cannot be a field.

    Fields that no method has are those of reported runs. They sort as numbers.
    """
    # SQLite has no escape for a quote in the path of a JSON value.
    is_possible = bool(field) and '"' not in field and storable(field) == field
    return _field_types().get(field, float) if is_possible else None


def field_sort_key(field: str, type_: type[float] | type[str]) -> ColumnElement[Any]:
    """Return the sort key of a field. It is null without the field, or if a numeric field is not a number."""
    text = cast(Run.config[field].as_string(), Text)
    if type_ is str:
        return text
    # Earlier versions may have stored text here, which PostgreSQL cannot convert to a number.
    return case((text.regexp_match(_NUMBER), cast(text, Double)), else_=None)


@cache
def _field_types() -> dict[str, type[float] | type[str]]:
    schema = config_adapter.json_schema()
    found: dict[str, type[float] | type[str]] = {}
    for model in [schema, *schema.get("$defs", {}).values()]:
        for name, field in model.get("properties", {}).items():
            type_: type[float] | type[str] = float if _is_number(field) else str
            found[name] = type_ if found.get(name, type_) is type_ else str
    return found


def _is_number(field: dict[str, Any]) -> bool:
    types = {variant.get("type") for variant in field.get("anyOf", [field])} - {"null"}
    return bool(types) and types <= {"integer", "number"}

"""Sorting runs by a field of their configurations, which lie in one column of JSON."""

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Double, Text, case, cast

from backend.database.tables import Run
from workers.contract.config import config_adapter

_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"


def config_kind(field: str) -> type[float] | type[str] | None:
    """Whether the field sorts as numbers or as words; None if no method has it."""
    return _kinds().get(field)


def config_key(field: str, kind: type[float] | type[str]) -> ColumnElement[Any]:
    """What to sort by; a run without the field, or with what is no number in a field of numbers, has nothing there."""
    written = cast(Run.config[field].as_string(), Text)
    if kind is str:
        return written
    # A configuration of an earlier version may hold a word, which PostgreSQL would refuse to turn into a number.
    return case((written.regexp_match(_NUMBER), cast(written, Double)), else_=None)


@cache
def _kinds() -> dict[str, type[float] | type[str]]:
    schema = config_adapter.json_schema()
    found: dict[str, type[float] | type[str]] = {}
    for model in [schema, *schema.get("$defs", {}).values()]:
        for name, field in model.get("properties", {}).items():
            kind: type[float] | type[str] = float if _is_number(field) else str
            found[name] = kind if found.get(name, kind) is kind else str
    return found


def _is_number(field: dict[str, Any]) -> bool:
    kinds = {variant.get("type") for variant in field.get("anyOf", [field])} - {"null"}
    return bool(kinds) and kinds <= {"integer", "number"}

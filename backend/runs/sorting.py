"""Sort keys of lists of runs: columns, fields, metrics, computed columns and expressions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import FieldError, Invalid, Problem
from backend.metrics.models import MetricSeries
from backend.runs.expressions.names import Column, setting_kinds
from backend.runs.expressions.nodes import Setting, Value
from backend.runs.expressions.requests import read_value
from backend.runs.expressions.sql import Translator
from workers.contract.values import storable

SORTABLE = (
    "id name state desired origin project algorithm env queue attempt priority created_at started_at finished_at "
    "archived_at worker step frames total_steps steps_per_second seconds_left last_return best_return episodes"
).split()
CONFIG_PREFIX = "config:"
MAX_KEYS = 5
# A part of a list without a comma outside of quotes.
_PIECE = re.compile(r'(?:[^,()"]|"[^"]*")+|[,()"]')
_METRIC = re.compile(r"metric:(.+):(last|min|max)")


@dataclass(frozen=True)
class SortKey:
    """A column of the order, with the type of its values."""

    key: ColumnElement[Any]
    type: type[Any]
    descending: bool


def sort_keys(session: Session, sort: str, computed: Mapping[str, Value]) -> list[SortKey]:
    """Return the keys of an order such as `-best_return,created_at`. Raise Invalid if one is wrong."""
    parts = split_list(sort)
    try:
        if len(parts) > MAX_KEYS:
            raise Invalid(FieldError(field="sort", message=f"sort by at most {MAX_KEYS} columns"))
        return [_sort_key(session, part.strip(), computed) for part in parts]
    except Problem:
        # The name of a metric or a field may contain a comma.
        if stored := _stored_key(session, sort.removeprefix("-")):
            return [SortKey(*stored, sort.startswith("-"))]
        raise


def split_list(text: str) -> list[str]:
    """Split at commas outside of quotes and parentheses."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _sort_key(session: Session, part: str, computed: Mapping[str, Value]) -> SortKey:
    name, descending = part.removeprefix("-"), part.startswith("-")
    if name in computed:
        return SortKey(Translator(session).number(computed[name]), float, descending)
    if stored := _stored_key(session, name):
        return SortKey(*stored, descending)
    if ":" in name:
        raise _unknown()
    key, type_ = _value_key(session, read_value(session, name, "sort"))
    return SortKey(key, type_, descending)


def _stored_key(session: Session, name: str) -> tuple[ColumnElement[Any], type[Any]] | None:
    if name in SORTABLE:
        column = getattr(Run, name)
        return column, column.type.python_type
    if metric := _METRIC.fullmatch(name):
        found = select(getattr(MetricSeries, metric[2]))
        same = (MetricSeries.run_id == Run.id, MetricSeries.name == storable(metric[1]))
        return found.where(*same).correlate(Run).scalar_subquery(), float
    field = name.removeprefix(CONFIG_PREFIX)
    # SQLite has no escape for a quote in the path of a JSON value.
    if name.startswith(CONFIG_PREFIX) and field and '"' not in field:
        return _value_key(session, Setting(field))
    return None


def _value_key(session: Session, value: Value) -> tuple[ColumnElement[Any], type[Any]]:
    translator = Translator(session)
    if isinstance(value, Setting) and setting_kinds().get(value.name) in ("text", "boolean"):
        return cast(translator.settings.raw(value.name), Text), str
    if isinstance(value, Column) and value.kind in ("tags", "study"):
        raise Invalid(FieldError(field="sort", message=f"a run can have several values of {value.name}"))
    key = translator.key(value)
    is_column = isinstance(value, Column) and value.kind != "number"
    return key, key.type.python_type if is_column else float


def _unknown() -> Invalid:
    others = "metric:NAME:last, :min or :max, by config:FIELD, or by an expression"
    return Invalid(FieldError(field="sort", message=f"sort by one of {', '.join(SORTABLE)}, or by {others}"))

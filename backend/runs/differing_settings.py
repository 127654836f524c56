"""Configuration fields whose values differ between the listed runs."""

from collections import defaultdict
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import Text, cast, func, literal_column, select, true
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.runs.expressions.names import COLUMN_BY_NAME, setting_title
from backend.runs.expressions.parsing import KEYWORDS
from backend.runs.expressions.writing import written_setting
from backend.runs.filters import Filters, filter_conditions
from backend.runs.names import field_titles
from backend.runs.setting_values import setting_value, value_key

# The newest runs, which are examined. The configurations of 10,000 runs take half a second.
MAX_EXAMINED, MAX_EXAMPLES = 2_000, 5
# They have separate columns.
_COLUMNS = ("algorithm", "env")


class RunSetting(BaseModel):
    """A configuration field of the listed runs."""

    field: str
    name: str = Field(description="The field as an expression names it.")
    title: str = Field(description="Title of the launch form, or the field itself.")
    distinct: int = Field(description="Number of different values.")
    runs: int = Field(description="Runs that have the field.")
    examples: list[Any] = Field(description="The most frequent values.")


class RunSettings(BaseModel):
    """The configuration fields of the listed runs."""

    examined: int = Field(description=f"Number of runs examined: the newest {MAX_EXAMINED:,} at most.")
    settings: list[RunSetting]


def read_settings(session: Session, filters: Filters, *, every: bool) -> RunSettings:
    """Return the fields with more than one value, or all fields, in the order of the launch form."""
    newest = select(Run.id, Run.config).where(*filter_conditions(session, filters)).order_by(Run.id.desc())
    runs = newest.limit(MAX_EXAMINED).subquery()
    examined = session.scalar(select(func.count()).select_from(runs)) or 0
    counts = _count_values(session, runs)
    titles = [*field_titles()]
    order = sorted(counts, key=lambda field: (titles.index(field) if field in titles else len(titles), field))
    fields = [_to_schema(field, counts[field]) for field in order if every or len(counts[field]) > 1]
    return RunSettings(examined=examined, settings=fields)


def _count_values(session: Session, runs: Any) -> dict[str, dict[tuple[str, str], tuple[Any, int]]]:
    """Return each value of each field with its number of runs."""
    if session.get_bind().dialect.name == "sqlite":
        each: Any = func.json_each(runs.c.config).table_valued("key", "value", "type", name="each_field")
        kind, raw = each.c.type, each.c.value
    else:
        each = func.jsonb_each(runs.c.config).table_valued("key", "value", name="each_field").render_derived()
        kind, raw = func.jsonb_typeof(each.c.value), cast(each.c.value.op("#>>")(literal_column("'{}'")), Text)
    query = select(each.c.key, kind, raw, func.count()).select_from(runs.join(each, true()))
    found: dict[str, dict[tuple[str, str], tuple[Any, int]]] = defaultdict(dict)
    for field, kind_of_value, stored, count in session.execute(query.group_by(each.c.key, kind, raw)):
        value = setting_value(kind_of_value, stored)
        if value is not None and field not in _COLUMNS:
            key = value_key(value)
            found[field][key] = (value, count + found[field].get(key, (value, 0))[1])
    return found


def _to_schema(field: str, counts: dict[tuple[str, str], tuple[Any, int]]) -> RunSetting:
    ordered = [counts[key] for key in sorted(counts)]
    frequent = sorted(ordered, key=lambda pair: -pair[1])
    reserved = field.lower() in COLUMN_BY_NAME or field.lower() in KEYWORDS
    return RunSetting(
        field=field,
        name=written_setting(field, reserved),
        title=setting_title(field),
        distinct=len(counts),
        runs=sum(count for _value, count in frequent),
        examples=[value for value, _count in frequent[:MAX_EXAMPLES]],
    )
